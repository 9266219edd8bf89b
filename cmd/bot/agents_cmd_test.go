package main

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// What a card is drawn from is read at once or not at all.
func TestReadRegular(t *testing.T) {
	dir := t.TempDir()
	pipe, long, longest := filepath.Join(dir, "pipe"), filepath.Join(dir, "long"), filepath.Join(dir, "longest")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, size := range map[string]int{long: largestRead + 1, longest: largestRead} {
		if err := os.WriteFile(path, bytes.Repeat([]byte("x"), size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{pipe, dir, "/dev/zero", long, filepath.Join(dir, "none")} {
		if text, err := readRegular(path); err == nil {
			t.Errorf("%s: read %d bytes", path, len(text))
		}
		if text, err := readAtOnce(path); err == nil {
			t.Errorf("%s, looked at before: read %d bytes", path, len(text))
		}
	}
	if text, err := readRegular(longest); err != nil || len(text) != largestRead {
		t.Errorf("read %d bytes, %v", len(text), err)
	}
}
