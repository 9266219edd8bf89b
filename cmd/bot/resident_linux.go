package main

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// dropProgram has the system forget where the program's code and constants lie in
// memory: as long as both are what its file has, nothing is lost. Where that is not
// certain, nothing happens.
func dropProgram() {
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return
	}
	for _, m := range unwritten(string(maps)) {
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, m.from, m.size, syscall.MADV_DONTNEED)
	}
}

// A mapping is a part of the memory.
type mapping struct{ from, size uintptr }

// unwritten finds what lies in memory as the program's file has it, which cannot be
// written and has not been. That is nothing where libraries are loaded beside it: what
// loads them writes to such parts before it takes the right to away. The text is that of
// /proc/self/smaps, in which lines about a mapping follow one like this:
//
//	00400000-01196000 r-xp 00000000 fd:01 1234   /usr/bin/countersign
func unwritten(smaps string) (found []mapping) {
	program, ours := "", false
	for line := range strings.Lines(smaps) {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0:
		case strings.HasSuffix(fields[0], ":"):
			if ours && fields[0] == "Anonymous:" && len(fields) > 1 && fields[1] != "0" {
				found = found[:len(found)-1] // it was written, and is a copy of our own
			}
		case len(fields) < 6 || fields[4] == "0": // of no file
			ours = false
		case program != "" && program != fields[5]:
			return nil
		default:
			program = fields[5]
			var m mapping
			if m, ours = parseMapping(fields[0]); ours {
				ours = fields[1] == "r-xp" || fields[1] == "r--p"
			}
			if ours {
				found = append(found, m)
			}
		}
	}
	return found
}

func parseMapping(text string) (mapping, bool) {
	first, last, _ := strings.Cut(text, "-")
	from, err := strconv.ParseUint(first, 16, 64)
	to, berr := strconv.ParseUint(last, 16, 64)
	return mapping{uintptr(from), uintptr(to - from)}, err == nil && berr == nil && to > from
}
