package cards_test

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf16"
)

// A run is one formatted stretch of a parsed message.
type run struct {
	tag  string // b, code, pre, a, tg-time
	attr string
	text string
}

// tags that cards may write, with the attributes they must carry.
var tags = map[string]*regexp.Regexp{
	"b":       regexp.MustCompile(`^$`),
	"code":    regexp.MustCompile(`^$`),
	"pre":     regexp.MustCompile(`^$`),
	"a":       regexp.MustCompile(`^ href="https://t\.me/[^"<>&]*"$`),
	"tg-time": regexp.MustCompile(`^ unix="-?\d+" format="(?:r|w?[dD]?[tT]?)"$`),
}

// parseHTML reads HTML as Telegram's parser does, but forgives nothing: no
// unknown tag or entity, no nesting, no empty run. readable is the text with
// the formatting drawn for people.
func parseHTML(html string) (plain, readable string, runs []run, err error) {
	var text, drawn strings.Builder
	open := ""
	var current run
	for rest := html; rest != ""; {
		switch rest[0] {
		case '<':
			end := strings.IndexByte(rest, '>')
			if end < 0 {
				return "", "", nil, fmt.Errorf("unclosed tag at %.20q", rest)
			}
			tag := rest[1:end]
			rest = rest[end+1:]
			if open == "" {
				name, _, _ := strings.Cut(tag, " ")
				attr, known := tags[name]
				if !known || !attr.MatchString(tag[len(name):]) {
					return "", "", nil, fmt.Errorf("unexpected tag %q", tag)
				}
				open, current = name, run{tag: name, attr: tag[len(name):]}
				continue
			}
			if tag != "/"+open {
				return "", "", nil, fmt.Errorf("%q within %q", tag, open)
			}
			if current.text == "" {
				return "", "", nil, fmt.Errorf("empty %q", open)
			}
			drawn.WriteString(draw(current))
			runs = append(runs, current)
			open = ""
			continue
		case '>':
			return "", "", nil, fmt.Errorf("bare > at %.20q", rest)
		}
		c := rest[:1]
		if c == "&" {
			name, _, found := strings.Cut(rest, ";")
			plainOf := map[string]string{"&lt": "<", "&gt": ">", "&amp": "&"}
			if c = plainOf[name]; !found || c == "" {
				return "", "", nil, fmt.Errorf("bare & at %.20q", rest)
			}
			rest = rest[len(name)+1:]
		} else {
			rest = rest[1:]
		}
		text.WriteString(c)
		if open == "" {
			drawn.WriteString(c)
		} else {
			current.text += c
		}
	}
	if open != "" {
		return "", "", nil, fmt.Errorf("%q is not closed", open)
	}
	return text.String(), drawn.String(), runs, nil
}

// draw shows a run to people who read golden files.
func draw(r run) string {
	switch r.tag {
	case "b":
		return "*" + r.text + "*"
	case "code":
		return "`" + r.text + "`"
	case "pre":
		return "| " + strings.ReplaceAll(r.text, "\n", "\n| ")
	case "tg-time":
		return "{" + r.text + "}"
	}
	return "[" + r.text + "](" + r.attr + ")"
}

func utf16Len(s string) int { return len(utf16.Encode([]rune(s))) }
