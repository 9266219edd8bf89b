//go:build !race

// The race detector has nothing to find in a script, and would take minutes.

package store_test

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// A mutant is the scripts with one fault put into one of them.
type mutant struct {
	script string // its name, as in a check
	fault  string // "line 12: …", what was done
	line   string // the line as it is, without its indent
	text   string // the whole script with the fault
}

// mutants puts into a script, one at a time: every condition that is never or
// always true, or lacks one of its parts; every comparison that is off by one;
// every call that is left out.
func mutants(script, text string) []mutant {
	var all []mutant
	lines := strings.Split(text, "\n")
	add := func(i, n int, fault, replacement string) {
		changed := slices.Concat(lines[:i], []string{replacement}, lines[i+n:])
		all = append(all, mutant{
			script: script, fault: fmt.Sprintf("line %d: %s", i+1, fault),
			line: strings.TrimSpace(lines[i]), text: strings.Join(changed, "\n"),
		})
	}
	for i, line := range lines {
		code, _, _ := strings.Cut(line, " -- ")
		if strings.HasPrefix(strings.TrimSpace(code), "--") {
			continue
		}
		for _, at := range condition.FindAllStringSubmatchIndex(code, -1) {
			was := code[at[2]:at[3]]
			add(i, 1, was+" is never true", code[:at[2]]+never+code[at[3]:])
			add(i, 1, was+" is always true", code[:at[2]]+always+code[at[3]:])
			for _, is := range slices.Concat(without(was, " or "), without(was, " and ")) {
				add(i, 1, was+" becomes "+is, code[:at[2]]+is+code[at[3]:])
			}
		}
		for _, at := range comparison.FindAllStringIndex(code, -1) {
			was := code[at[0]:at[1]]
			is := map[string]string{" < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > "}[was]
			add(i, 1, strings.TrimSpace(was)+" becomes"+is, code[:at[0]]+is+code[at[1]:])
		}
		if call.MatchString(code) {
			n := 1
			for strings.Count(strings.Join(lines[i:i+n], ""), "(") > strings.Count(strings.Join(lines[i:i+n], ""), ")") {
				n++
			}
			add(i, n, "left out", "")
		}
	}
	return all
}

// Plain false in a loop is compiled wrongly by the embedded server.
const (
	never  = "#ARGV < 0"
	always = "#ARGV >= 0"
)

var (
	condition  = regexp.MustCompile(`\bif (.+?) then\b`)
	comparison = regexp.MustCompile(` (<|<=|>|>=) `)
	call       = regexp.MustCompile(`^\s*(redis\.call|mark|publish|retire|inherit|stands_open|stands_closed|touch|fail)\(`)
)

// without lists the texts that remain of the parts of a condition when each is
// left out in turn.
func without(condition, joint string) []string {
	parts := strings.Split(condition, joint)
	if len(parts) == 1 {
		return nil
	}
	var rest []string
	for i := range parts {
		kept := strings.Join(slices.Delete(slices.Clone(parts), i, i+1), joint)
		if strings.Count(kept, "(") == strings.Count(kept, ")") {
			rest = append(rest, kept)
		}
	}
	return rest
}

// TestChecksFindFaults shows that the checks are not blind: for each fault put
// into a script, some check of that script fails.
func TestChecksFindFaults(t *testing.T) {
	t.Parallel()
	files := scriptTexts(t)
	byScript := map[string][]check{}
	for _, c := range checks() {
		byScript[c.script] = append(byScript[c.script], c)
	}
	for _, some := range []string{"asked", "view", "sent", "card", "intent", "settle", "decide", "open", "moved", "rehome", "fail", "chat"} {
		byScript["lib"] = append(byScript["lib"], byScript[some]...)
	}
	unused := harmless()
	for name, text := range files {
		for _, m := range mutants(name, text) {
			delete(unused, m.name())
			if harmless()[m.name()] != "" {
				continue
			}
			t.Run(m.script+"/"+m.fault, func(t *testing.T) {
				t.Parallel()
				if !m.found(t, files, byScript[m.script]) {
					t.Errorf("no check of %s fails with this fault in\n%s", m.script, m.line)
				}
			})
		}
	}
	for name := range unused {
		t.Errorf("there is no such fault: %s", name)
	}
}

// name tells a fault without the number of its line.
func (m mutant) name() string {
	_, fault, _ := strings.Cut(m.fault, ": ")
	return m.script + ": " + m.line + ": " + fault
}

// scriptTexts are the scripts by name.
func scriptTexts(t *testing.T) map[string]string {
	t.Helper()
	names, err := fs.Glob(scriptFiles(), "scripts/*.lua")
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, name := range names {
		text, err := fs.ReadFile(scriptFiles(), name)
		if err != nil {
			t.Fatal(err)
		}
		texts[strings.TrimSuffix(path.Base(name), ".lua")] = string(text)
	}
	return texts
}

// found reports whether one of the checks fails with the fault.
func (m mutant) found(t *testing.T, files map[string]string, checks []check) bool {
	t.Helper()
	faulty := fstest.MapFS{}
	for name, text := range files {
		faulty["scripts/"+name+".lua"] = &fstest.MapFile{Data: []byte(text)}
	}
	faulty["scripts/"+m.script+".lua"].Data = []byte(m.text)
	return slices.ContainsFunc(checks, func(c check) bool { return fails(t, c, faulty) })
}
