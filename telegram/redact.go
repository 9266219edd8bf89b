package telegram

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"unicode"
)

const (
	hidden = "<token>"

	// shortestSecret is the length from which the part of a token behind the colon is hidden on its own, too.
	// Real ones have 35 characters; a shorter one, in a test, would be found by chance inside ordinary words.
	shortestSecret = 12

	longestDescription = 300 // characters of a server's words that are kept
)

// redactor takes the token out of what is printed. It is immutable and safe for concurrent use.
type redactor struct {
	text func(string) string // takes the token out of a text; a function, since one cannot be printed
}

// newRedactor hides token, its forms in URLs, and its secret part alone: that one is made of characters which no
// escaping changes, so it is found whatever was done to the colon.
func newRedactor(token string) redactor {
	forms := []string{token, strings.Replace(token, ":", "%3A", 1), strings.Replace(token, ":", "%3a", 1)}
	if _, secret, ok := strings.Cut(token, ":"); ok && len(secret) >= shortestSecret {
		forms = append(forms, secret)
	}
	pairs := make([]string, 0, 2*len(forms))
	for _, form := range forms {
		pairs = append(pairs, form, hidden)
	}
	return redactor{text: strings.NewReplacer(pairs...).Replace}
}

// line makes a server's words fit for an error: without the token, on one line, of bounded length.
func (r redactor) line(s string) string {
	s = strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return ' '
		}
		return c
	}, r.text(s))
	s = strings.Join(strings.Fields(s), " ")
	if runes := []rune(s); len(runes) > longestDescription {
		return string(runes[:longestDescription]) + "…"
	}
	return s
}

// err returns an error that may be printed. The address of a request is always taken off. What still holds the token
// loses its type; being a cancelled or expired context survives.
func (r redactor) err(err error) error {
	var addressed *url.Error
	for errors.As(err, &addressed) {
		err = addressed.Err
	}
	text := err.Error()
	clean := r.text(text)
	if clean == text {
		return err
	}
	for _, ended := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, ended) {
			return ended
		}
	}
	return errors.New(clean)
}
