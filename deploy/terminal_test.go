package deploy_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// A window is a terminal in which one program runs, as somebody sits before it.
type window struct {
	t   *testing.T
	tty *os.File
	cmd *exec.Cmd

	mu    sync.Mutex // guards what follows
	out   bytes.Buffer
	seen  int           // up to where it was read
	news  chan struct{} // closed when there is more, or the program has ended
	ended bool
}

// patience bounds what is waited for. It is no part of what is tested.
const patience = 60 * time.Second

// opens starts a program in a new window, in a folder. The environment is what is given
// and no more.
func opens(t *testing.T, dir string, environ []string, argv ...string) *window {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TERM=xterm"}, environ...)
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 50, Cols: 400})
	if err != nil {
		t.Fatal(err)
	}
	w := &window{t: t, tty: tty, cmd: cmd, news: make(chan struct{})}
	go w.reads()
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
		_ = tty.Close()
	})
	return w
}

// reads keeps what the program prints until it has ended.
func (w *window) reads() {
	buf := make([]byte, 4096)
	for {
		n, err := w.tty.Read(buf)
		w.mu.Lock()
		w.out.Write(buf[:n])
		w.ended = err != nil
		close(w.news)
		w.news = make(chan struct{})
		w.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// sees waits until the program prints a text, after what was seen before, and returns
// what it printed up to there.
func (w *window) sees(text string) string {
	w.t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		w.mu.Lock()
		rest, news, ended := w.out.String()[w.seen:], w.news, w.ended
		if i := strings.Index(rest, text); i >= 0 {
			w.seen += i + len(text)
			w.mu.Unlock()
			return rest[:i+len(text)]
		}
		w.mu.Unlock()
		if ended {
			w.t.Fatalf("it ended without %q:\n%s", text, w.shown())
		}
		select {
		case <-news:
		case <-timer.C:
			w.t.Fatalf("no %q in:\n%s", text, w.shown())
		}
	}
}

// types types, and presses Enter.
func (w *window) types(line string) {
	w.t.Helper()
	if _, err := w.tty.WriteString(line + "\n"); err != nil {
		w.t.Fatal(err)
	}
}

// answers types a line once the program asks for it.
func (w *window) answers(question, line string) {
	w.t.Helper()
	w.sees(question)
	w.types(line)
}

// presses presses Ctrl and a letter.
func (w *window) presses(letter byte) {
	w.t.Helper()
	if _, err := w.tty.Write([]byte{letter & 0x1f}); err != nil {
		w.t.Fatal(err)
	}
}

// ends waits for the program's end, and returns its exit code.
func (w *window) ends() int {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = w.cmd.Process.Signal(syscall.SIGKILL) })
	defer stop()
	_ = w.cmd.Wait()
	w.mu.Lock()
	ended, news := w.ended, w.news
	w.mu.Unlock()
	for !ended { // what it printed last is still on its way
		select {
		case <-news:
		case <-ctx.Done():
			w.t.Fatalf("it goes on:\n%s", w.shown())
		}
		w.mu.Lock()
		ended, news = w.ended, w.news
		w.mu.Unlock()
	}
	return w.cmd.ProcessState.ExitCode()
}

// shown is everything in the window, with lines ended as in a file.
func (w *window) shown() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.ReplaceAll(w.out.String(), "\r\n", "\n")
}
