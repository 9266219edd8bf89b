package store_test

import (
	"context"
	"io/fs"
	"runtime"
	"testing"
	"time"

	"countersign/store"
	"countersign/store/storetest"
)

func scriptFiles() fs.FS { return store.ScriptFiles() }

// A recorder takes a check's failure down instead of failing the test. Only the
// goroutine of the check may use it.
type recorder struct {
	testing.TB
	ctx    context.Context
	failed bool
}

func (r *recorder) Context() context.Context { return r.ctx }
func (r *recorder) Helper()                  {}
func (r *recorder) Failed() bool             { return r.failed }
func (r *recorder) Fail()                    { r.failed = true }
func (r *recorder) Error(...any)             { r.failed = true }

// Errorf ends the check at its first failure: one is enough.
func (r *recorder) Errorf(string, ...any) { r.FailNow() }
func (r *recorder) Fatal(...any)          { r.FailNow() }
func (r *recorder) Fatalf(string, ...any) { r.FailNow() }
func (r *recorder) FailNow() {
	r.failed = true
	runtime.Goexit()
}

// patience is how long a check may take with a fault that lets something go on
// for ever.
const patience = 5 * time.Second

// fails runs a check on the embedded server with other scripts, and reports
// whether it fails.
func fails(t *testing.T, c check, scripts fs.FS) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	r := &recorder{TB: t, ctx: ctx}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if fault := recover(); fault != nil { // a nil where the scripts give none
				r.failed = true
			}
		}()
		s := storetest.Embedded(r)
		st, err := store.NewFrom(s.Bot(), storetest.Options(s), scripts)
		if err != nil {
			r.Fatal(err)
		}
		e := newEnv(r, s, st)
		e.other = func(o store.Options) (*store.Store, error) { return store.NewFrom(s.Bot(), o, scripts) }
		c.prove(e)
	}()
	<-done
	return r.failed
}

// TestRecorder shows that what is recorded is what happens.
func TestRecorder(t *testing.T) {
	t.Parallel()
	for rule, c := range map[string]struct {
		prove func(e *env)
		want  bool
	}{
		"nothing fails":  {func(*env) {}, false},
		"a difference":   {func(e *env) { same(e, "one", 1, 2) }, true},
		"no difference":  {func(e *env) { same(e, "one", 1, 1) }, false},
		"an error":       {func(e *env) { e.ok(context.Canceled) }, true},
		"a panic":        {func(e *env) { panic("nil row") }, true},
		"a good opening": {func(e *env) { e.open("a1") }, false},
	} {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			if got := fails(t, check{prove: c.prove}, scriptFiles()); got != c.want {
				t.Errorf("fails: %v, want %v", got, c.want)
			}
		})
	}
}
