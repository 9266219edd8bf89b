package simulator_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"countersign/simulator"
)

func TestFaultMatches(t *testing.T) {
	w := newWorld(t)
	h := w.Fault(simulator.Fault{
		Method: "sendmessage", Chat: annID, Skip: 1, Count: 2, Code: 403, Description: "Forbidden: bot was blocked by the user",
		When: func(c simulator.Call) bool { return c.Text("text") != "spare" },
	})
	steps := []struct {
		chat int64
		text string
		ok   bool
	}{
		{annID, "one", true}, // skipped
		{opsID, "two", true}, // another chat
		{annID, "spare", true},
		{annID, "three", false},
		{annID, "four", false},
		{annID, "five", true}, // used up
	}
	for _, step := range steps {
		if a := w.call("sendMessage", params{"chat_id": step.chat, "text": step.text}); a.OK != step.ok {
			t.Errorf("%s: ok is %v, want %v", step.text, a.OK, step.ok)
		}
	}
	if h.Hits() != 2 {
		t.Errorf("%d hits, want 2", h.Hits())
	}
	if len(w.Refusals()) != 0 {
		t.Errorf("faults are no refusals: %v", w.Refusals())
	}
}

func TestRemovedFault(t *testing.T) {
	w := newWorld(t)
	h := w.Fault(simulator.Fault{})
	if w.call("getMe", nil).OK {
		t.Error("the fault did not strike")
	}
	h.Remove()
	if a := w.call("getMe", nil); !a.OK {
		t.Errorf("after Remove: %s", a.Description)
	}
}

func TestFaultHidesNoMistake(t *testing.T) {
	w := newWorld(t)
	w.Fault(simulator.Fault{})
	if a := w.call("sendMessage", params{"chat_id": annID, "txt": "x"}); a.ErrorCode != 400 {
		t.Errorf("got %d, want 400", a.ErrorCode)
	}
}

// Each kind of fault, with and without the effect of the call.
func TestFaultKinds(t *testing.T) {
	type outcome struct {
		status int
		body   string // must be contained
		err    error
		took   time.Duration
	}
	tests := []struct {
		name    string
		fault   simulator.Fault
		want    outcome
		applied bool
	}{
		{"fail", simulator.Fault{}, outcome{status: 500, body: `{"ok":false,"error_code":500`}, false},
		{"fail late", simulator.Fault{Delay: time.Minute}, outcome{status: 500, body: `"ok":false`, took: time.Minute}, false},
		{"fail after the effect", simulator.Fault{Applied: true}, outcome{status: 500, body: `"ok":false`}, true},
		{"not ok", simulator.Fault{Kind: simulator.NotOK}, outcome{status: 200, body: `"ok":false`}, false},
		{"bad gateway", simulator.Fault{Kind: simulator.BadGateway}, outcome{status: 502, body: "<html>"}, false},
		{"cut JSON", simulator.Fault{Kind: simulator.CutJSON}, outcome{status: 200, body: `{"ok":true,"result":{"message_id"`}, true},
		{"reset", simulator.Fault{Kind: simulator.Reset}, outcome{err: syscall.ECONNRESET}, false},
		{"reset after the effect", simulator.Fault{Kind: simulator.Reset, Applied: true}, outcome{err: syscall.ECONNRESET}, true},
		{"hang", simulator.Fault{Kind: simulator.Hang}, outcome{err: context.DeadlineExceeded, took: 5 * time.Minute}, false},
		{"hang, then break", simulator.Fault{Kind: simulator.Hang, Delay: time.Minute, Applied: true}, outcome{err: syscall.ECONNRESET, took: time.Minute}, true},
		{"slow body", simulator.Fault{Kind: simulator.SlowBody, Delay: time.Minute}, outcome{status: 200, body: `"text":"x"`, took: time.Minute}, true},
		{"redirect", simulator.Fault{Kind: simulator.Redirect, Location: "http://elsewhere/"}, outcome{status: 302}, false},
		{"late", simulator.Fault{Kind: simulator.Late, Delay: time.Minute}, outcome{status: 200, body: `"text":"x"`, took: time.Minute}, true},
		{"slow", simulator.Fault{Kind: simulator.Slow, Delay: time.Minute}, outcome{status: 200, body: `"text":"x"`, took: time.Minute}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world) {
				w.Fault(tt.fault)
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
				defer cancel()
				began := time.Now()
				status, body, err := w.bytes(ctx, "sendMessage", say("x"))
				if !errors.Is(err, tt.want.err) {
					t.Errorf("error %v, want %v", err, tt.want.err)
				}
				if status != tt.want.status || !strings.Contains(body, tt.want.body) {
					t.Errorf("got %d %s, want %d and %q", status, body, tt.want.status, tt.want.body)
				}
				if tt.name == "cut JSON" && json.Valid([]byte(body)) {
					t.Errorf("the JSON is whole: %s", body)
				}
				if took := time.Since(began); took != tt.want.took {
					t.Errorf("took %s, want %s", took, tt.want.took)
				}
				synctest.Wait()
				if got := len(w.BotMessages(annID)) == 1; got != tt.applied {
					t.Errorf("the call had its effect: %v, want %v", got, tt.applied)
				}
				calls := w.Calls("sendMessage")
				if len(calls) != 1 || calls[0].Applied != tt.applied {
					t.Errorf("log: %v", calls)
				}
			})
		})
	}
}

// bytes makes a call and returns what comes over the wire.
func (w *world) bytes(ctx context.Context, method string, p params) (status int, body string, err error) {
	raw, err := json.Marshal(p)
	if err != nil {
		w.t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://simulator/bot"+w.Token()+"/"+method, strings.NewReader(string(raw)))
	if err != nil {
		w.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := w.Client().Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	return response.StatusCode, string(content), err
}

// Over a socket a broken connection is one, too.
func TestResetOverASocket(t *testing.T) {
	w := newWorld(t)
	url, err := w.Start("")
	if err != nil {
		t.Fatal(err)
	}
	w.Fault(simulator.Fault{Kind: simulator.Reset, Count: 1})
	for _, want := range []bool{false, true} {
		response, err := http.Post(url+"/bot"+w.Token()+"/getMe", "application/json", nil)
		if got := err == nil; got != want {
			t.Errorf("answered: %v, want %v (%v)", got, want, err)
		}
		if err == nil {
			_ = response.Body.Close()
		}
	}
}

// What is slow has no effect before its time; what is only late has.
func TestSlowHasItsEffectLate(t *testing.T) {
	for kind, early := range map[simulator.FaultKind]int{simulator.Slow: 0, simulator.Late: 1} {
		inBubble(t, func(t *testing.T, w *world) {
			w.Fault(simulator.Fault{Kind: kind, Delay: time.Minute})
			done := make(chan struct{})
			go func() {
				defer close(done)
				if _, _, err := w.bytes(t.Context(), "sendMessage", say("x")); err != nil {
					t.Error(err)
				}
			}()
			time.Sleep(59 * time.Second)
			synctest.Wait()
			if got := len(w.BotMessages(annID)); got != early {
				t.Errorf("kind %d: %d messages after 59 s, want %d", kind, got, early)
			}
			<-done
			if got := len(w.BotMessages(annID)); got != 1 {
				t.Errorf("kind %d: %d messages in the end", kind, got)
			}
		})
	}
}
