package cards

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// The letters of callback data: what a button asks for.
const (
	LetterAction = 'a' // open the confirm step; a halt: approve
	LetterYes    = 'y' // confirm
	LetterCancel = 'c' // leave the confirm step
	LetterReject = 'r'
	LetterExact  = 'e' // Arg: 0 hide the exact call, 1 show it, 2 send it as a file
	LetterPage   = 'p' // Arg: the page to show, 0-based
	LetterWhole  = 'w' // send the whole list as a file
	LetterUndo   = 'u'

	// Of a list; they carry no card's id.
	LetterShow = 's' // Card: the reference of the approval to show again
	LetterMore = 'm' // Card: ListOpen or ListLapsed; Arg: from which entry on
)

const letters = "aycrepwusm"

// Bounds of callback data.
const (
	maxCardID = 22
	maxArg    = 5000
)

// A Press is what a button carries: a key to look its card up with, and the
// revision it was drawn at. It gives no right to anything.
//
// Written, it is the letter, the card's id, a dot and the revision in base 36,
// and where Arg is not 0 another dot and Arg in base 36: at most 42 bytes.
type Press struct {
	Letter byte
	Card   string // the card's id, of a list something else: 1–22 characters of base64url
	Rev    int64  // the row's revision; of Yes and Cancel the step's
	Arg    int    // 0–5,000
}

// ErrPress means that callback data is none of ours.
var ErrPress = errors.New("not a button of ours")

// Data writes p as callback data.
func (p Press) Data() string {
	var space [64]byte
	b := append(append(append(space[:0], p.Letter), p.Card...), '.')
	b = strconv.AppendInt(b, p.Rev, 36)
	if p.Arg != 0 {
		b = strconv.AppendInt(append(b, '.'), int64(p.Arg), 36)
	}
	return string(b)
}

// ParsePress reads callback data. Data that [Press.Data] would not write, byte
// for byte, is refused with an error that wraps [ErrPress].
func ParsePress(data string) (Press, error) {
	if len(data) > 64 {
		return Press{}, fmt.Errorf("%w: %d bytes", ErrPress, len(data))
	}
	head, tail, _ := strings.Cut(data, ".")
	if len(head) < 2 || len(head) > 1+maxCardID || !strings.Contains(letters, head[:1]) || !base64URL(head[1:]) {
		return Press{}, fmt.Errorf("%w: %q", ErrPress, data)
	}
	rev, arg, hasArg := strings.Cut(tail, ".")
	p := Press{Letter: head[0], Card: head[1:]}
	var err error
	if p.Rev, err = strconv.ParseInt(rev, 36, 64); err != nil || p.Rev < 0 {
		return Press{}, fmt.Errorf("%w: revision %q", ErrPress, rev)
	}
	if hasArg {
		n, err := strconv.ParseInt(arg, 36, 32)
		if err != nil || n < 0 || n > maxArg {
			return Press{}, fmt.Errorf("%w: argument %q", ErrPress, arg)
		}
		p.Arg = int(n)
	}
	if p.Data() != data {
		return Press{}, fmt.Errorf("%w: %q is not how it is written", ErrPress, data)
	}
	return p, nil
}

func base64URL(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_':
		default:
			return false
		}
	}
	return true
}
