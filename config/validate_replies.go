package config

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// confirmWord confirms what an approve word opened, so it can be neither kind of word.
const confirmWord = "yes"

// longestWord bounds a reply word, in code points.
const longestWord = 32

func checkReplies(f *findings, r Replies) {
	var seen []replyWord
	for _, list := range []struct {
		key   string
		words []string
	}{{"replies.approve", r.Approve}, {"replies.reject", r.Reject}} {
		if len(list.words) == 0 {
			f.add(list.key, "the list is empty; want at least one word")
		}
		for i, text := range list.words {
			word := replyWord{element(list.key, i), text}
			checkWord(f, word, seen)
			seen = append(seen, word)
		}
	}
}

type replyWord struct {
	key, text string
}

func checkWord(f *findings, word replyWord, seen []replyWord) {
	const want = "want a single word of letters"
	switch n := utf8.RuneCountInString(word.text); {
	case n == 0:
		f.add(word.key, "the word is empty; %s", want)
	case n > longestWord:
		f.add(word.key, "the word has %d letters; want at most %d", n, longestWord)
	case !isWord(word.text):
		f.add(word.key, "%s is not only letters; %s", quote(word.text), want)
	case strings.EqualFold(word.text, confirmWord):
		f.add(word.key, "%s confirms what a word has opened, and can open or reject nothing; want another word", quote(word.text))
	}
	for _, other := range seen {
		if strings.EqualFold(word.text, other.text) {
			f.add(word.key, "%s is the same word as %s; case makes no difference", quote(word.text), other.key)
			return
		}
	}
}

// isWord allows the marks that some scripts write on their letters.
func isWord(text string) bool {
	first, _ := utf8.DecodeRuneInString(text)
	return unicode.IsLetter(first) && !strings.ContainsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r)
	})
}
