package approval_test

import (
	"testing"
	"time"

	"countersign/approval"
)

func TestSealText(t *testing.T) {
	row := approval.Row{
		ID: "a\"1", Terms: "sha256:t", Pin: "sha256:p", Stream: "{q}:requests", Owners: []int64{1, -2}, Quorum: 2,
		OpenedAt: time.UnixMilli(1700000000001), ExpiresAt: time.UnixMilli(1700000000002),
	}
	const want = `{"approval_id":"a\"1","expires_at":1700000000002,"opened_at":1700000000001,"owners":[1,-2],` +
		`"pin":"sha256:p","quorum":2,"stream":"{q}:requests","terms":"sha256:t"}`
	if got := row.SealText(); string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
	canonical, err := approval.Canonical([]byte(want))
	if err != nil || string(canonical) != want {
		t.Errorf("its canonical form is %s, %v", canonical, err)
	}
}

func TestYields(t *testing.T) {
	data := []byte(`{"approval_id":"a1","tool":"t","arguments":{"x":1},"card":{"title":"T"}}`)
	q, err := approval.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	terms, err := approval.Terms(data)
	if err != nil {
		t.Fatal(err)
	}
	pin, err := approval.PinOf(q.Calls)
	if err != nil {
		t.Fatal(err)
	}
	good := approval.Row{ID: "a1", Raw: data, Request: &q, Terms: terms, Pin: pin}
	if !good.Yields() {
		t.Error("a row does not yield its own digests")
	}
	for name, change := range map[string]func(*approval.Row){
		"another id":    func(r *approval.Row) { r.ID = "a2" },
		"no request":    func(r *approval.Row) { r.Request = nil },
		"other terms":   func(r *approval.Row) { r.Terms = "sha256:x" },
		"another pin":   func(r *approval.Row) { r.Pin = "sha256:x" },
		"no JSON":       func(r *approval.Row) { r.Raw = []byte("{") },
		"another title": func(r *approval.Row) { r.Raw = append([]byte(`{"x":1,`), data[1:]...) },
	} {
		row := good
		if change(&row); row.Yields() {
			t.Errorf("%s: yields", name)
		}
	}
}

func TestStateAnswers(t *testing.T) {
	approved := &approval.Answer{Decision: approval.DecisionApproved}
	lapsed := &approval.Answer{Decision: approval.DecisionLapsed}
	for _, c := range []struct {
		state  approval.State
		answer *approval.Answer
		want   bool
	}{
		{approval.Open, nil, true},
		{approval.Open, lapsed, false},
		{approval.Lapsed, lapsed, true},
		{approval.Lapsed, nil, false},
		{approval.Lapsed, approved, false},
		{approval.Rejected, lapsed, false},
		{approval.Approved, approved, true},
		{approval.Undone, approved, true},
		{approval.Claimed, lapsed, false},
		{"strange", approved, false},
	} {
		if got := c.state.Answers(c.answer); got != c.want {
			t.Errorf("%s with %+v: %v", c.state, c.answer, got)
		}
	}
}

func TestSealRefusal(t *testing.T) {
	for seal, code := range map[approval.Seal]string{approval.SealAbsent: "unsealed", approval.SealBroken: "tampered"} {
		if got := approval.ReasonCode(seal.Refusal()); seal.Good() || got != code {
			t.Errorf("%s: good %v, code %q", seal, seal.Good(), got)
		}
	}
	if !approval.Unchecked.Good() || !approval.SealHolds.Good() {
		t.Error("a good row is not")
	}
}
