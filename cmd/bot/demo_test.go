package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign/approval"
	"countersign/config"
	"countersign/simulator/page"
)

// hurried is the pace for tests: runtimes work at once, Yes counts at once, and what
// lasts a while lasts a short one.
func hurried() demoPace {
	return demoPace{brief: 5 * time.Second, slow: 300 * time.Millisecond, flood: 2 * time.Second, outage: time.Second}
}

// startDemo runs a demo at the tests' pace, and returns it and the address of its page.
func startDemo(t *testing.T) (*demo, string) {
	t.Helper()
	return startDemoAt(t, hurried())
}

// startDemoAt runs a demo at a pace.
func startDemoAt(t *testing.T, pace demoPace) (*demo, string) {
	t.Helper()
	d, err := newDemo(testWriter{t}, time.Now, pace)
	if err != nil {
		t.Fatal(err)
	}
	return d, runDemo(t, d)
}

// runDemo runs a demo until the test ends, and returns the address of its page.
func runDemo(t *testing.T, d *demo) string {
	t.Helper()
	l, err := listenLocally(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done, ready := make(chan error, 1), make(chan struct{})
	go func() { done <- d.run(ctx, l, func() { close(ready) }) }()
	t.Cleanup(func() {
		cancel()
		if err := errors.Join(<-done, d.close()); err != nil {
			t.Errorf("the demo ended: %v", err)
		}
	})
	select {
	case <-ready:
	case err := <-done:
		done <- err
		t.Fatalf("the demo did not start: %v", err)
	}
	return "http://" + l.Addr().String()
}

// waitEntry waits for an entry of the journal.
func waitEntry(ctx context.Context, t *testing.T, d *demo, fits func(page.Entry) bool) page.Entry {
	t.Helper()
	for after := uint64(0); ; {
		entries, news := d.runtimes.Log(after)
		for _, e := range entries {
			after = e.Seq
			if fits(e) {
				return e
			}
		}
		select {
		case <-news:
		case <-ctx.Done():
			t.Fatalf("no such entry: %v", context.Cause(ctx))
		}
	}
}

// step fits the entry of a sample's step.
func step(sample, name string) func(page.Entry) bool {
	return func(e page.Entry) bool { return e.Step == name && strings.HasPrefix(e.ID, "demo-"+sample+"-") }
}

func TestDemoCommandStartsAndStops(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	in, out := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, world{args: []string{"demo", "--listen", "127.0.0.1:0"}, stdout: out, stderr: testWriter{t}})
		_ = out.Close()
	}()
	line, err := bufio.NewReader(in).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, in) }()
	address, ok := strings.CutPrefix(strings.TrimSpace(line), "The demo is at ")
	if !ok {
		t.Fatalf("first line %q", line)
	}
	r, err := http.Get(address)
	if err != nil || r.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %v %v", address, r, err)
	}
	_ = r.Body.Close()
	stream, err := http.Get(address + "/api/events") // an open window does not hold up the stop
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stream.Body.Close() }()
	cancel()
	if got := <-code; got != exitDone {
		t.Errorf("exit %d, want %d", got, exitDone)
	}
}

func TestDemoListensLocally(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	cases := []struct{ address, refused string }{
		{"127.0.0.1:0", ""},
		{"localhost:0", ""},
		{taken.Addr().String(), "another program has that port"},
		{":8080", "press every button"},
		{"0.0.0.0:8080", "press every button"},
		{"[::]:8080", "press every button"},
		{"192.0.2.7:8080", "press every button"},
		{"demo.example:8080", "press every button"},
		{"8080", "want host:port"},
		{"127.0.0.1:nought", "--listen 127.0.0.1:nought"},
	}
	for _, c := range cases {
		l, err := listenLocally(t.Context(), c.address)
		if err == nil {
			_ = l.Close()
		}
		if refused := err != nil; refused != (c.refused != "") || refused && !strings.Contains(err.Error(), c.refused) {
			t.Errorf("%s: %v, want %q", c.address, err, c.refused)
		}
	}
}

func TestDemoRefusesToBeReached(t *testing.T) {
	var stderr strings.Builder
	if got := run(t.Context(), world{args: []string{"demo", "--listen", "0.0.0.0:0"}, stdout: io.Discard, stderr: &stderr}); got != exitUsage {
		t.Errorf("exit %d, want %d", got, exitUsage)
	}
	if !strings.Contains(stderr.String(), "--listen 0.0.0.0:0") {
		t.Errorf("stderr %q", stderr.String())
	}
}

func TestDemoSamplesKeepTheRules(t *testing.T) {
	names := map[string]bool{}
	for _, s := range demoSamples(time.Minute) {
		if names[s.Name] || s.Title == "" || s.Hint == "" {
			t.Errorf("sample %+v", s.Sample)
		}
		names[s.Name] = true
		data, err := s.data(demoID(s.Name, 1))
		if err != nil {
			t.Errorf("%s: %v", s.Name, err)
			continue
		}
		if _, err := approval.Decode(data); (err != nil) != s.malformed {
			t.Errorf("%s: %v", s.Name, err)
		}
	}
}

func TestDemoJournal(t *testing.T) {
	j := newDemoJournal(func() time.Time { return time.Unix(0, 0) })
	_, news := j.Log(0)
	for range demoJournalLimit + 2 {
		j.add(page.Entry{Step: page.StepWaiting})
	}
	select {
	case <-news:
	default:
		t.Error("nobody was woken")
	}
	cases := []struct {
		after uint64
		first uint64
		count int
	}{
		{0, 3, demoJournalLimit}, // the oldest two are forgotten
		{3, 4, demoJournalLimit - 1},
		{demoJournalLimit + 1, demoJournalLimit + 2, 1},
		{demoJournalLimit + 2, 0, 0},
		{demoJournalLimit + 9, 0, 0},
	}
	for _, c := range cases {
		list, _ := j.Log(c.after)
		var first uint64
		if len(list) > 0 {
			first = list[0].Seq
		}
		if len(list) != c.count || first != c.first {
			t.Errorf("after %d: %d entries from %d, want %d from %d", c.after, len(list), first, c.count, c.first)
		}
	}
}

func TestDemoShellQuotes(t *testing.T) {
	s := newDemoShell(config.Redis{URL: config.NewRedisURL("redis://127.0.0.1:7001"), Namespace: "demo"})
	got := s.publish("approval.requested", []byte(`{"title":"Ann's"}`))
	want := `redis-cli -p 7001 XADD '{demo}:requests' '*' type approval.requested data '{"title":"Ann'\''s"}'`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
