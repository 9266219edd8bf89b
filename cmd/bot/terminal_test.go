package main

import (
	"context"
	"io"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/term"
)

// However soon a question for a secret ends, what is typed afterwards is shown again: a
// read that begins late hides nothing.
func TestUnseenEnds(t *testing.T) {
	t.Parallel()
	window, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = window.Close(), tty.Close() }()
	found, err := term.GetState(int(tty.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	// What is left behind has its turn before it is looked.
	began := make(chan struct{}, 1)
	asked := &terminal{in: tty, out: writes(func(p []byte) (int, error) {
		if string(p) == "Token: " {
			began <- struct{}{}
		}
		return len(p), nil
	}), state: found}
	if _, err := asked.AskUnseen(ended, "Token: "); err == nil {
		t.Fatal("no error")
	}
	<-began
	now, err := term.GetState(int(tty.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	if *now != *found {
		t.Error("what is typed stays hidden")
	}
}

type writes func([]byte) (int, error)

func (w writes) Write(p []byte) (int, error) { return w(p) }

var _ io.Writer = writes(nil)
