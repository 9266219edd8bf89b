package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What is dropped is what nobody wrote, of a program that stands alone.
func TestUnwritten(t *testing.T) {
	t.Parallel()
	const (
		code      = "00400000-01196000 r-xp 00000000 fd:01 12   /usr/bin/countersign\nRss: 9816 kB\nAnonymous: 0 kB\nVmFlags: rd ex mr mw me\n"
		constants = "01196000-01197000 r--p 00d96000 fd:01 12   /usr/bin/countersign\nRss: 4 kB\nAnonymous: 0 kB\n"
		relocated = "01197000-01198000 r--p 00d97000 fd:01 12   /usr/bin/countersign\nRss: 4 kB\nAnonymous: 4 kB\n"
		data      = "01fe0000-0213d000 rw-p 01be0000 fd:01 12   /usr/bin/countersign\nAnonymous: 0 kB\n"
		heap      = "fd37e400000-fd37ec00000 rw-p 00000000 00:00 0 \nAnonymous: 5184 kB\n"
		system    = "7ffd3a7f2000-7ffd3a7f4000 r-xp 00000000 00:00 0   [vdso]\nAnonymous: 0 kB\n"
		library   = "7f0000000000-7f0000001000 r-xp 00000000 fd:01 99   /lib/libc.so.6\nAnonymous: 0 kB\n"
		shared    = "7f0000000000-7f0000001000 r--s 00000000 fd:01 12   /usr/bin/countersign\nAnonymous: 0 kB\n"
	)
	both := []mapping{{0x400000, 0xd96000}, {0x1196000, 0x1000}}
	for name, c := range map[string]struct {
		text string
		want []mapping
	}{
		"alone":     {code + constants + data + heap + system, both},
		"relocated": {code + constants + relocated + data + heap, both},
		"a library": {code + constants + library + heap, nil},
		"shared":    {code + shared, both[:1]},
		"unread":    {"x-y r-xp 00000000 fd:01 12   /usr/bin/countersign\nAnonymous: 4 kB\n", nil},
		"nothing":   {"", nil},
	} {
		if diff := cmp.Diff(c.want, unwritten(c.text), cmp.AllowUnexported(mapping{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A program goes on after it was dropped, however it was built; one built with libraries
// beside it ends here by a signal where what they wrote is dropped as well.
func TestDropProgramDoesNoHarm(*testing.T) { dropProgram() }
