package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"countersign/simulator/page"
)

// However a demo ends, its bot ends with it. Both write to one pipe, which ends when
// nobody is left to write to it.
func TestDemoTakesItsBotAlong(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGKILL} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			read, write, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = read.Close() }()
			cmd := &exec.Cmd{Path: self, Args: []string{"countersign", "demo", "--listen", "127.0.0.1:0"}, Env: []string{}, Stderr: write}
			stdout, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			_ = write.Close()
			line, err := bufio.NewReader(stdout).ReadString('\n')
			if err != nil || !strings.HasPrefix(line, "The demo is at ") {
				t.Fatalf("first line %q, %v", line, err)
			}
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			err = cmd.Wait()
			if clean := signal != syscall.SIGKILL; clean != (err == nil) {
				t.Errorf("the demo ended with %v", err)
			}
			if err := read.SetReadDeadline(time.Now().Add(patience)); err != nil {
				t.Fatal(err)
			}
			if said, err := io.ReadAll(read); err != nil {
				t.Errorf("the bot lives on: %v\n%s", err, said)
			}
		})
	}
}

// A bot that was killed by somebody else is as dead as one that the page killed, and can
// be started again.
func TestDemoBotKilledFromOutside(t *testing.T) {
	d, address := startDemo(t)
	v := newAPIVisitor(d, address)
	g := &guide{t: t, ctx: t.Context(), v: v}
	g.part("Bot", "up")
	board, _ := d.faults.Board()
	var pid int
	if _, err := fmt.Sscanf(board.Faults[0].Command, "kill -9 %d", &pid); err != nil {
		t.Fatalf("command %q: %v", board.Faults[0].Command, err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	g.part("Bot", "down")
	g.must(v.happened(g.ctx, fmt.Sprintf("process %d ended: signal: killed", pid)), "read of its end")
	if board, _ := d.faults.Board(); !board.Faults[0].On || board.Faults[0].Command != "" {
		t.Errorf("the fault is %+v", board.Faults[0])
	}
	for range 2 { // the second one does nothing
		g.must(v.post(g.ctx, "/api/fault", map[string]any{"fault": faultKill, "end": true}, nil), "start it")
	}
	g.part("Bot", "up")
}

// Each fault that is begun twice is one, and so is its end.
func TestDemoFaultsAreOne(t *testing.T) {
	d, address := startDemo(t)
	v := newAPIVisitor(d, address)
	g := &guide{t: t, ctx: t.Context(), v: v}
	g.part("Bot", "up")
	for _, fault := range []string{faultSlow, faultBlock, faultFlood, faultRedis, faultKill} {
		for _, end := range []bool{false, true} {
			before := happenings(d)
			for range 3 {
				g.must(v.post(g.ctx, "/api/fault", map[string]any{"fault": fault, "end": end}, nil), fault)
			}
			if after := happenings(d); after != before+1 && !(fault == faultKill && end && after > before) {
				t.Errorf("%s, end %v, happened %d times", fault, end, after-before)
			}
		}
	}
	r, err := http.Get(address + "/api/snapshot")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	var snap page.Snapshot
	if err := json.NewDecoder(r.Body).Decode(&snap); err != nil || len(snap.Board.Faults) != 5 {
		t.Errorf("a page that is loaded anew shows %+v, %v", snap.Board, err)
	}
}

// happenings counts what has happened to the parts, but for what the bot does by itself.
func happenings(d *demo) int {
	board, _ := d.faults.Board()
	n := 0
	for _, h := range board.Log {
		if !strings.Contains(h.Text, "listens") && !strings.Contains(h.Text, "caught up") {
			n++
		}
	}
	return n
}

func TestReadDocument(t *testing.T) {
	cases := []struct {
		input, document string
		ok              bool
	}{
		{"a: 1\nb: 2\n...\nrest", "a: 1\nb: 2\n", true},
		{"...\n", "", true},
		{"a: 1\n...", "a: 1\n", true},
		{"a: 1\n", "", false}, // whoever started it is gone
		{"", "", false},
	}
	for _, c := range cases {
		got, err := readDocument(bufio.NewReader(strings.NewReader(c.input)))
		if string(got) != c.document || (err == nil) != c.ok {
			t.Errorf("%q: %q, %v", c.input, got, err)
		}
	}
}
