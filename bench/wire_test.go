package main

import (
	"bytes"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"
	"time"
)

// One connection carries calls of known length and in chunks, in their order.
func TestWireSpeaksToGo(t *testing.T) {
	var seen []deed
	a, err := newAPI(t.Context(), 1000, 0, func(d deed) { seen = append(seen, d) })
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}}
	post := func(method, kind string, body io.Reader) string {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, a.url()+"/bot"+token+"/"+method, body)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", kind)
		resp, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	const buttons = `{"inline_keyboard":[[{"text":"A","callback_data":"one"}],[{"text":"Yes, B","callback_data":"two"}],[{"text":"C","callback_data":"three"}]]}`
	sent := post(deedSend, "application/json",
		strings.NewReader(`{"chat_id":1001,"text":"kick k000042k","reply_markup":`+buttons+`}`))
	if !strings.Contains(sent, `"message_id":1001,`) {
		t.Error(sent)
	}
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	for name, value := range map[string]string{"message_id": "77", "text": "k000043k", "reply_markup": buttons} {
		if err := w.WriteField(name, value); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	edited := post(deedEdit, w.FormDataContentType(), io.MultiReader(&form, strings.NewReader(""))) // of no known length
	if !strings.Contains(edited, `"message_id":77,`) {
		t.Error(edited)
	}
	post(deedAnswer, "application/json", strings.NewReader(`{"callback_query_id":"y000044y"}`))
	if len(seen) != 3 {
		t.Fatalf("%d calls arrived", len(seen))
	}
	for i, n := range []int{42, 43, 44} {
		if seen[i].n != n || time.Since(seen[i].at) > time.Minute {
			t.Errorf("call %d: %+v", i, seen[i])
		}
	}
	if seen[0].first != "one" || seen[0].yes != "two" || seen[1].message != 77 {
		t.Errorf("%+v", seen[:2])
	}
}

// Updates come until they are confirmed, and a poll waits for them.
func TestUpdatesAreConfirmed(t *testing.T) {
	a, err := newAPI(t.Context(), 1, 0, func(deed) {})
	if err != nil {
		t.Fatal(err)
	}
	polled := make(chan string)
	go func() { polled <- string(a.updates(t.Context(), []byte(`{"offset":0,"timeout":25}`))) }()
	a.tap("q000001q", "x", 5)
	first := <-polled
	if !strings.Contains(first, `"update_id":1,`) || !strings.Contains(first, `"data":"x"`) {
		t.Error(first)
	}
	a.tap("y000001y", "z", 5)
	both := string(a.updates(t.Context(), []byte(`{"offset":1}`)))
	if !strings.Contains(both, `"update_id":1,`) || !strings.Contains(both, `"update_id":2,`) {
		t.Error(both)
	}
	last := string(a.updates(t.Context(), []byte("name=\"offset\"\r\n\r\n2\r\n")))
	if strings.Contains(last, `"update_id":1,`) || !strings.Contains(last, `"update_id":2,`) {
		t.Error(last)
	}
	if none := string(a.updates(t.Context(), []byte(`{"offset":3,"timeout":0}`))); none != `{"ok":true,"result":[]}` {
		t.Error(none)
	}
}

func TestMarks(t *testing.T) {
	for body, want := range map[string]int{
		"k000123k": 123, "kkk k000007k!": 7, "k12k": -1, "k00012xk": -1, "": -1, "x k-00001k": -1, "k000123": -1,
	} {
		if got := marked([]byte(body), 'k'); got != want {
			t.Errorf("marked(%q) = %d, want %d", body, got, want)
		}
	}
}

// A call that is none ends its connection, and nothing else.
func TestNoCall(t *testing.T) {
	for _, text := range []string{"hello\n\n", "POST /x HTTP/1.1\r\nContent-Length: x\r\n\r\n", "POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"} {
		in := newReaderOf(text)
		if _, err := readCall(in, nil); err == nil {
			t.Errorf("%q is taken for a call", text)
		}
	}
}
