package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A FileLedger is a [Ledger] in a folder, one small file for each note. Several
// processes on one machine may share it. Whoever may write the folder can make a
// call that ran look like one that did not: keep it to the runtime.
type FileLedger struct{ folder string }

// NewFileLedger returns the ledger in a folder, which it makes if need be.
func NewFileLedger(folder string) (*FileLedger, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("queue: ledger: %w", err)
	}
	return &FileLedger{folder: folder}, nil
}

// A fileNote is what one file holds. The id tells where the file system takes
// two names for one.
type fileNote struct {
	ID   string `json:"approval_id"`
	Note string `json:"note"`
}

// Read implements [Ledger].
func (l *FileLedger) Read(_ context.Context, id string, step Step) (string, bool, error) {
	text, err := os.ReadFile(l.path(id, step))
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	var n fileNote
	if err == nil {
		err = json.Unmarshal(text, &n)
	}
	if err == nil && n.ID != id {
		err = fmt.Errorf("%s is of %q", l.path(id, step), n.ID)
	}
	if err != nil {
		return "", false, fmt.Errorf("queue: ledger: %w", err)
	}
	return n.Note, true, nil
}

// Add implements [Ledger].
func (l *FileLedger) Add(_ context.Context, id string, step Step, note string) (bool, error) {
	text, err := json.Marshal(fileNote{ID: id, Note: note})
	if err != nil {
		return false, fmt.Errorf("queue: ledger: %w", err)
	}
	temporary, err := l.written(text)
	if err != nil {
		return false, fmt.Errorf("queue: ledger: %w", err)
	}
	defer func() { _ = os.Remove(temporary) }()
	// A link appears whole, and never over another.
	if err = os.Link(temporary, l.path(id, step)); errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err == nil {
		err = l.sync()
	}
	if err != nil {
		return false, fmt.Errorf("queue: ledger: %w", err)
	}
	return true, nil
}

// written writes a file of a name of its own, to the disk.
func (l *FileLedger) written(text []byte) (name string, err error) {
	f, err := os.CreateTemp(l.folder, ".new-*")
	if err != nil {
		return "", err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(f.Name())
	}
	return f.Name(), err
}

// sync writes the folder's names to the disk.
func (l *FileLedger) sync() error {
	f, err := os.Open(l.folder)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func (l *FileLedger) path(id string, step Step) string {
	return filepath.Join(l.folder, strings.ReplaceAll(id, ":", "%3A")+"."+string(step)+".json")
}
