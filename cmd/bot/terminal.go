package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// A terminal is where somebody is asked. One question is asked at a time.
type terminal struct {
	in    *os.File
	out   io.Writer
	state *term.State // as it was found
}

// errNoTerminal is what somebody learns who is not there to be asked.
var errNoTerminal = errors.New("this asks questions at a terminal, and there is none")

// openTerminal opens what the program was started at.
func (s *shell) openTerminal() (*terminal, error) {
	in, ok := s.stdin.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		return nil, errNoTerminal
	}
	state, err := term.GetState(int(in.Fd()))
	if err != nil {
		return nil, errors.Join(errNoTerminal, err)
	}
	return &terminal{in: in, out: s.stdout, state: state}, nil
}

// Say prints a line.
func (t *terminal) Say(line string) { fmt.Fprintln(t.out, line) }

// Ask asks, and returns the line that is typed.
func (t *terminal) Ask(ctx context.Context, prompt string) (string, error) {
	return t.read(ctx, prompt, t.line)
}

// AskUnseen asks without showing what is typed, from before the prompt on: a paste may
// follow it at once. The terminal is changed and restored here and not by the read: one
// that is left behind, or begins late, must not hide what is typed to a shell.
func (t *terminal) AskUnseen(ctx context.Context, prompt string) (string, error) {
	if _, err := term.MakeRaw(int(t.in.Fd())); err != nil {
		return "", err
	}
	line, err := t.read(ctx, "", func() (string, error) {
		screen := term.NewTerminal(struct {
			io.Reader
			io.Writer
		}{t.in, t.out}, "")
		return screen.ReadPassword(prompt) // Ctrl-C, which is a key like others now, ends the input
	})
	_ = term.Restore(int(t.in.Fd()), t.state)
	if err != nil {
		fmt.Fprintln(t.out)
	}
	return line, err
}

// read reads until ctx ends. A read that is left behind ends with the program.
func (t *terminal) read(ctx context.Context, prompt string, read func() (string, error)) (string, error) {
	fmt.Fprint(t.out, prompt)
	type answer struct {
		line string
		err  error
	}
	answers := make(chan answer, 1)
	go func() {
		line, err := read()
		answers <- answer{line, err}
	}()
	select {
	case a := <-answers:
		if errors.Is(a.err, io.EOF) {
			return "", errors.New("the input ended")
		}
		return a.line, a.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// line reads one line, and nothing beyond it: what follows may be a secret.
func (t *terminal) line() (string, error) {
	var line []byte
	for b := make([]byte, 1); ; {
		n, err := t.in.Read(b)
		switch {
		case n > 0 && b[0] == '\n':
			return string(line), nil
		case n > 0:
			line = append(line, b[0])
		case err != nil:
			return "", err
		}
	}
}
