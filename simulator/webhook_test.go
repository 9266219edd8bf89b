package simulator_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign/simulator"
)

// A receiver is the bot's end of a webhook, reached without a socket.
type receiver struct {
	mu      sync.Mutex
	got     []string // texts, or tap and data
	secrets []string
	answer  func(text string) (status int, header http.Header, body string) // nil: 200

	now, most int // deliveries under way, and the most at one time
}

// RoundTrip implements http.RoundTripper.
func (r *receiver) RoundTrip(request *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	var u update
	if err := json.Unmarshal(body, &u); err != nil {
		return nil, err
	}
	text := "other"
	switch {
	case u.Message != nil:
		text = u.Message.Text
	case u.CallbackQuery != nil:
		text = "tap " + u.CallbackQuery.Data
	}
	r.mu.Lock()
	r.got = append(r.got, text)
	r.secrets = append(r.secrets, request.Header.Get("X-Telegram-Bot-Api-Secret-Token"))
	r.now++
	r.most = max(r.most, r.now)
	answer := r.answer
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.now--
	}()
	response := &http.Response{StatusCode: 200, Status: "200 OK", Header: http.Header{}, Body: http.NoBody, Request: request}
	if answer == nil {
		return response, nil
	}
	status, header, reply := answer(text)
	response.StatusCode, response.Status = status, fmt.Sprintf("%d %s", status, http.StatusText(status))
	if header != nil {
		response.Header = header
	}
	response.Body = io.NopCloser(strings.NewReader(reply))
	return response, nil
}

func (r *receiver) texts() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string{}, r.got...)
}

// withWebhook runs a test in a bubble, with a webhook set.
func withWebhook(t *testing.T, more params, f func(*testing.T, *world, *receiver)) {
	synctest.Test(t, func(t *testing.T) {
		r := &receiver{}
		w := newWorld(t, func(o *simulator.Options) {
			o.Now = time.Now
			o.WebhookClient = &http.Client{Transport: r}
		})
		w.call("getUpdates", params{"offset": 2}) // /start
		must[bool](w, "setWebhook", merge(params{"url": "http://127.0.0.1:9999/hook", "secret_token": "s3cret"}, more))
		f(t, w, r)
	})
}

func TestWebhookDelivers(t *testing.T) {
	withWebhook(t, nil, func(t *testing.T, w *world, r *receiver) {
		w.ann.Send(annID, "one")
		w.ann.Send(annID, "two")
		w.ann.Tap(w.send(annID, "x", keyboard("a")), "a")
		synctest.Wait()
		got := r.texts()
		if len(got) != 3 || got[0] != "one" && got[1] != "one" {
			t.Errorf("got %v", got)
		}
		for _, secret := range r.secrets {
			if secret != "s3cret" {
				t.Errorf("secret %q", secret)
			}
		}
		if w.PendingUpdates() != 0 {
			t.Error("updates are left")
		}
	})
}

// A failed update is tried again, later each time; others of its chat wait behind it,
// those of other chats do not.
func TestWebhookRetriesInOrder(t *testing.T) {
	withWebhook(t, nil, func(t *testing.T, w *world, r *receiver) {
		fails := 3
		r.answer = func(text string) (int, http.Header, string) {
			if text == "one" && fails > 0 {
				fails--
				return 500, nil, ""
			}
			return 200, nil, ""
		}
		w.ann.Send(annID, "one")
		w.ann.Send(annID, "two")
		w.ben.Send(benID, "ben")
		began := time.Now()
		err := w.Wait(t.Context(), func() bool { return w.PendingUpdates() == 0 })
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != (1+2+4)*time.Second {
			t.Errorf("took %s, want 7s", took)
		}
		var ann []string
		for _, text := range r.texts() {
			if text != "ben" {
				ann = append(ann, text)
			}
		}
		if diff := cmp.Diff([]string{"one", "one", "one", "one", "two"}, ann); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		type info struct {
			LastError string `json:"last_error_message"`
			Date      int64  `json:"last_error_date"`
		}
		want := info{"Wrong response from the webhook: 500 Internal Server Error", began.Add(3 * time.Second).Unix()}
		if diff := cmp.Diff(want, must[info](w, "getWebhookInfo", nil)); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
}

func TestWebhookHonoursRetryAfter(t *testing.T) {
	withWebhook(t, nil, func(t *testing.T, w *world, r *receiver) {
		first := true
		r.answer = func(string) (int, http.Header, string) {
			if first {
				first = false
				return 503, http.Header{"Retry-After": {"90"}}, ""
			}
			return 200, nil, ""
		}
		began := time.Now()
		w.ann.Send(annID, "one")
		if err := w.Wait(t.Context(), func() bool { return w.PendingUpdates() == 0 }); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != 90*time.Second {
			t.Errorf("took %s, want 90s", took)
		}
	})
}

func TestWebhookGivesUpWithTheUpdate(t *testing.T) {
	withWebhook(t, nil, func(t *testing.T, w *world, r *receiver) {
		r.answer = func(string) (int, http.Header, string) { return 500, nil, "" }
		card := w.send(annID, "x", keyboard("a"))
		w.ann.Tap(card, "a")
		began := time.Now()
		if err := w.Wait(t.Context(), func() bool { return w.PendingUpdates() == 0 }); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != 150*time.Second {
			t.Errorf("the tap was dropped after %s, want its life of 150s", took)
		}
		tries := len(r.texts())
		<-time.After(time.Hour)
		if got := len(r.texts()); got != tries {
			t.Errorf("%d tries after its end", got-tries)
		}
	})
}

func TestWebhookConnections(t *testing.T) {
	withWebhook(t, params{"max_connections": 2}, func(t *testing.T, w *world, r *receiver) {
		r.answer = func(string) (int, http.Header, string) {
			<-time.After(time.Second)
			return 200, nil, ""
		}
		for id := range int64(6) {
			w.AddUser(2000+id, "Person").Start()
		}
		if err := w.Wait(t.Context(), func() bool { return w.PendingUpdates() == 0 }); err != nil {
			t.Fatal(err)
		}
		if r.most != 2 {
			t.Errorf("%d deliveries at a time, want 2", r.most)
		}
	})
}

func TestWebhookReplyMakesACall(t *testing.T) {
	withWebhook(t, nil, func(t *testing.T, w *world, r *receiver) {
		r.answer = func(string) (int, http.Header, string) {
			return 200, nil, `{"method":"sendMessage","chat_id":1001,"text":"pong"}`
		}
		w.ann.Send(annID, "ping")
		if m, err := w.WaitMessage(t.Context(), annID, nil); err != nil || m.Text != "pong" {
			t.Errorf("got %q, %v", m.Text, err)
		}
	})
}

func TestDeleteWebhook(t *testing.T) {
	withWebhook(t, nil, func(t *testing.T, w *world, r *receiver) {
		must[bool](w, "deleteWebhook", params{})
		w.ann.Send(annID, "one")
		synctest.Wait()
		if got := r.texts(); len(got) != 0 {
			t.Errorf("got %v", got)
		}
		must[bool](w, "deleteWebhook", params{"drop_pending_updates": true})
		if w.PendingUpdates() != 0 {
			t.Error("updates are left")
		}
	})
}

func TestWebhookURLs(t *testing.T) {
	tests := []struct {
		url  string
		want string
	}{
		{"https://example.com/hook", ""},
		{"https://example.com:8443/hook", ""},
		{"http://127.0.0.1:1234/hook", ""},
		{"http://[::1]:1234/", ""},
		{"http://localhost:1234/", ""},
		{"http://example.com/", "Bad Request: bad webhook: An HTTPS URL must be provided for webhook"},
		{"https://", "Bad Request: invalid webhook URL specified"},
	}
	for _, tt := range tests {
		t.Run(tt.url, func(t *testing.T) {
			w := newWorld(t)
			w.updates()
			if got := w.call("setWebhook", params{"url": tt.url}).Description; got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
