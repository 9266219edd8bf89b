package telegram_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign/telegram"
)

func TestUpdates(t *testing.T) {
	server := &recorder{status: 200, answer: `{"ok":true,"result":[{"update_id":9,"message":{"paid_media":[{"type":"hologram"}]}},{"update_id":"odd"},{"update_id":10}]}`}
	got, err := newClient(t, server).Updates(t.Context(), 8, 25*time.Second, 500)
	if err != nil {
		t.Fatal(err)
	}
	var ids []int64
	for _, u := range got {
		ids = append(ids, u.ID)
	}
	if diff := cmp.Diff([]int64{9, 0, 10}, ids); diff != "" {
		t.Errorf("ids (-want +got):\n%s", diff)
	}
	if want := `{"update_id":9,"message":{"paid_media":[{"type":"hologram"}]}}`; string(got[0].Raw) != want {
		t.Errorf("raw = %s, want it as it came", got[0].Raw)
	}
	want := map[string]any{
		"offset": 8.0, "limit": 100.0, "timeout": 25.0, "allowed_updates": []any{"message", "callback_query", "my_chat_member"},
	}
	if diff := cmp.Diff(want, server.params(t)); diff != "" {
		t.Errorf("parameters (-want +got):\n%s", diff)
	}
}

// However an update is written, its id is the one that is decoded with it.
func TestIDsOfUpdates(t *testing.T) {
	for raw, want := range map[string]int64{
		`{"update_id":7,"message":{}}`:           7,
		`{"update_id":7}`:                        7,
		`{"update_id": 7 ,"message":{}}`:         7,
		`{ "message":{},"update_id":7}`:          7,
		`{"update_id":7,"update_id":8}`:          8,
		`{"update_id":-7}`:                       -7,
		`{"update_id":7.0}`:                      0,
		`{"update_id":9223372036854775808}`:      0,
		`{"update_id":"7"}`:                      0,
		`{"update_id":null}`:                     0,
		`{"message":{"text":"\"update_id\":9"}}`: 0,
		`[7]`:                                    0,
	} {
		got, err := newClient(t, always(200, `{"ok":true,"result":[`+raw+`]}`)).Updates(t.Context(), 0, 0, 1)
		if err != nil || len(got) != 1 || got[0].ID != want {
			t.Errorf("%s: %v, %v; want id %d", raw, got, err, want)
		}
	}
}

// An answer that says that all is well and gives nothing is none.
func TestAnswerWithoutResult(t *testing.T) {
	for _, answer := range []string{`{"ok":true}`, `{"ok":true,"result":{}}`, `{"ok":true,"result":[{"update_id":1}`} {
		_, err := newClient(t, always(200, answer)).Updates(t.Context(), 0, 0, 1)
		if e := failure(t, err); e.Kind != telegram.Server || !e.Ambiguous {
			t.Errorf("%s: %v", answer, err)
		}
	}
}

// A look at what waits confirms nothing, and leaves the kinds that are kept as they are.
func TestPeek(t *testing.T) {
	server := &recorder{status: 200, answer: `{"ok":true,"result":[{"update_id":9}]}`}
	got, err := newClient(t, server).Peek(t.Context(), 6*time.Second, 1)
	if err != nil || len(got) != 1 || got[0].ID != 9 {
		t.Errorf("%v, %v", got, err)
	}
	if diff := cmp.Diff(map[string]any{"limit": 1.0, "timeout": 6.0}, server.params(t)); diff != "" {
		t.Errorf("parameters (-want +got):\n%s", diff)
	}
}

// A batch of the largest updates there are is not refused: it would come again for ever.
func TestLargestUpdates(t *testing.T) {
	update := `{"update_id":1,"message":{"text":"` + strings.Repeat("x", 512<<10-40) + `"}}`
	batch := strings.Repeat(update+",", 19) + update
	got, err := newClient(t, always(200, `{"ok":true,"result":[`+batch+`]}`)).Updates(t.Context(), 0, 0, 20)
	if err != nil || len(got) != 20 {
		t.Errorf("%d updates, %v; want 20", len(got), err)
	}
}

// A result beyond all bounds is neither read to its end nor taken.
func TestTooLargeAnswer(t *testing.T) {
	c := newClient(t, always(200, `{"ok":true,"result":[]`+strings.Repeat(" ", 1<<20)+`}`))
	_, err := c.Updates(t.Context(), 0, 0, 1)
	if e := failure(t, err); e.Kind != telegram.Server || !strings.Contains(err.Error(), "too large") {
		t.Errorf("error = %v, want one about the size", err)
	}
}

func TestWedgedPollIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClient(t, transport(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}))
		begun := time.Now()
		_, err := c.Updates(t.Context(), 0, 25*time.Second, 10)
		if e := failure(t, err); e.Kind != telegram.Transport {
			t.Errorf("error = %v, want a transport failure", err)
		}
		if took := time.Since(begun); took != 35*time.Second {
			t.Errorf("gave up after %v, want 35s", took)
		}
	})
}
