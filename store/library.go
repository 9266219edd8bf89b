package store

import (
	"iter"
	"slices"
	"strings"
)

// A library is the lines that scripts share: definitions in paragraphs of their own, which
// use only those above them. It is read word by word and once, since every start reads it.
type library struct {
	parts   []string
	uses    [][]int          // by paragraph, which others define a word of it
	defined map[string][]int // a name's paragraphs
}

func readLibrary(text string) *library {
	lib := &library{parts: strings.Split(text, "\n\n"), defined: make(map[string][]int)}
	for i, part := range lib.parts {
		for line := range strings.Lines(part) {
			if rest, ok := strings.CutPrefix(line, "local "); ok {
				for name := range words(strings.TrimPrefix(rest, "function ")) {
					lib.defined[name] = append(lib.defined[name], i)
					break
				}
			}
		}
	}
	for _, part := range lib.parts {
		lib.uses = append(lib.uses, lib.usedBy(part))
	}
	return lib
}

// usedBy are the paragraphs that define what a text uses.
func (lib *library) usedBy(text string) []int {
	var used []int
	for word := range words(text) {
		for _, i := range lib.defined[word] {
			if !slices.Contains(used, i) {
				used = append(used, i)
			}
		}
	}
	return used
}

// behind puts before a script what it uses of the library.
func (lib *library) behind(script string) string {
	used := make([]bool, len(lib.parts))
	use := func(paragraphs []int) {
		for _, i := range paragraphs {
			used[i] = true
		}
	}
	use(lib.usedBy(script))
	parts := []string{script}
	for i, part := range slices.Backward(lib.parts) {
		if used[i] {
			use(lib.uses[i])
			parts = append(parts, part)
		}
	}
	slices.Reverse(parts)
	return strings.Join(parts, "\n\n")
}

// words yields the names, numbers and keywords of a text.
func words(text string) iter.Seq[string] {
	return strings.FieldsFuncSeq(text, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}
