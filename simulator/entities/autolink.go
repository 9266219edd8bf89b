package entities

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Autolink adds what Telegram makes of plain text: url, email, mention, hashtag,
// cashtag, bot_command, phone_number and bank_card entities, outside code, links and
// other entities that stand for something. The given entities must be in order, as
// [Fix] leaves them; so are those returned.
//
// The rules are Telegram's as far as they are known; of top-level domains it knows
// those with two letters and the common longer ones. In doubt it finds too much, so
// that a text without automatic entities here has none on the real server either.
func Autolink(text string, list []Entity) []Entity {
	taken := slices.DeleteFunc(slices.Clone(list), func(e Entity) bool {
		return isStyle(e.Type) || e.Type == Blockquote || e.Type == Expandable
	})
	at := positions(text)
	out := slices.Clone(list)
	for _, rule := range rules() {
		for _, span := range rule.pattern.FindAllStringSubmatchIndex(text, -1) {
			start, end := span[2], span[3] // the first group; around it stand its borders
			if rule.accept != nil && !rule.accept(text, start, end) {
				continue
			}
			e := Entity{Type: rule.typ, Offset: at[start], Length: at[end] - at[start]}
			if slices.ContainsFunc(taken, func(o Entity) bool { return e.Offset < o.End() && o.Offset < e.End() }) {
				continue
			}
			taken = append(taken, e)
			out = append(out, e)
		}
	}
	sortEntities(out)
	return out
}

// A rule finds one type of entity: the first group of the pattern, if accept agrees.
type rule struct {
	typ     string
	pattern *regexp.Regexp
	accept  func(text string, start, end int) bool
}

// rules come in the order in which they win: of two that overlap, the earlier one. They
// are compiled when they are first wanted: most programs that hold this package never
// link anything.
var rules = sync.OnceValue(func() []rule {
	return []rule{
		{"email", regexp.MustCompile(`([A-Za-z0-9._%+\-]+@(?:[A-Za-z0-9\-]+\.)+[A-Za-z]{2,})`), atBorder},
		{"url", regexp.MustCompile(`(?i)((?:https?|ftp|tg|ton|tonsite)://[^\s<>"'` + "`" + `]*[^\s<>"'` + "`" + `.,:;!?()\[\]{}])`), nil},
		{"url", regexp.MustCompile(`((?:\d{1,3}(?:\.\d{1,3}){3}|(?:[\p{L}\p{N}_\-]+\.)+[\p{L}\p{N}]{2,})(?::\d{1,5})?(?:[/?#](?:[^\s<>"'` + "`" + `]*[^\s<>"'` + "`" + `.,:;!?()\[\]{}])?)?)`), isHost},
		{"mention", regexp.MustCompile(`(@[A-Za-z0-9_]{3,32})`), atBorder},
		{"bot_command", regexp.MustCompile(`(/[A-Za-z0-9_]{1,64}(?:@[A-Za-z0-9_]{3,32})?)`), isCommand},
		{"hashtag", regexp.MustCompile(`(#[\p{L}\p{N}_·]{1,256}(?:@[A-Za-z0-9_]{3,32})?)`), isHashtag},
		{"cashtag", regexp.MustCompile(`(\$(?:[A-Z]{1,8}|1INCH)(?:@[A-Za-z0-9_]{3,32})?)`), atBorder},
		{"phone_number", regexp.MustCompile(`(\+\d[\d\-() ]{5,20}\d)`), isPhone},
		{"bank_card", regexp.MustCompile(`(\d(?:[ \-]?\d){12,18})`), isCard},
	}
})

// atBorder reports whether a span neither follows nor precedes a word.
func atBorder(text string, start, end int) bool {
	return !isWord(before(text, start)) && !isWord(after(text, end))
}

func isCommand(text string, start, end int) bool {
	b := before(text, start)
	return atBorder(text, start, end) && b != '/' && b != '<' && b != '>' && after(text, end) != '/'
}

func isHashtag(text string, start, end int) bool {
	tag, _, _ := strings.Cut(text[start+1:end], "@")
	digits := strings.Trim(tag, "0123456789") == ""
	return atBorder(text, start, end) && !digits && before(text, start) != '#'
}

func isPhone(text string, start, end int) bool {
	n := countDigits(text[start:end])
	return atBorder(text, start, end) && 7 <= n && n <= 15
}

// isCard reports whether the digits pass the check sum of payment cards.
func isCard(text string, start, end int) bool {
	if !atBorder(text, start, end) {
		return false
	}
	sum, double := 0, false
	for i := end - 1; i >= start; i-- {
		if !isDigit(text[i]) {
			continue
		}
		d := int(text[i] - '0')
		if double {
			d = d*2%10 + d*2/10
		}
		sum += d
		double = !double
	}
	return sum%10 == 0
}

// isHost reports whether a dotted name ends in a top-level domain, or is an address.
func isHost(text string, start, end int) bool {
	b := before(text, start)
	if isWord(b) || b == '@' || b == '.' || b == '-' {
		return false
	}
	host := text[start:end]
	if i := strings.IndexAny(host, ":/?#"); i >= 0 {
		host = host[:i]
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	if strings.Trim(host, "0123456789.") == "" {
		return strings.Count(host, ".") == 3
	}
	letters := strings.Trim(strings.ToLower(last), "abcdefghijklmnopqrstuvwxyz") == ""
	return letters && len(last) == 2 || slices.Contains(longDomains(), strings.ToLower(last)) || !isASCII(last)
}

func longDomains() []string {
	return strings.Fields(`com net org edu gov mil int info biz name pro app dev xyz top site online shop store
		tech blog cloud page link live news media agency email world team space zone run sh io ai
		club icu vip wiki work fun chat bot social network systems solutions digital center company zip mov`)
}

func countDigits(s string) int {
	n := 0
	for i := range len(s) {
		if isDigit(s[i]) {
			n++
		}
	}
	return n
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

// before returns the character that ends at a byte position, or 0 at the beginning.
func before(text string, pos int) rune {
	if pos == 0 {
		return 0
	}
	r, _ := utf8.DecodeLastRuneInString(text[:pos])
	return r
}

// after returns the character that begins at a byte position, or 0 at the end.
func after(text string, pos int) rune {
	if pos == len(text) {
		return 0
	}
	r, _ := utf8.DecodeRuneInString(text[pos:])
	return r
}
