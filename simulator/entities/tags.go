package entities

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// plainTag gives the entity of a tag that has no argument.
func plainTag(name string) (typ string, ok bool) {
	switch name {
	case "b", "strong":
		return Bold, true
	case "i", "em":
		return Italic, true
	case "u", "ins":
		return Underline, true
	case "s", "strike", "del":
		return Strikethrough, true
	case "tg-spoiler", "span":
		return Spoiler, true
	}
	return "", false
}

func (p *parser) knows(name string) bool {
	if _, ok := plainTag(name); ok {
		return true
	}
	switch name {
	case "a", "tg-emoji", "pre", "code", "blockquote":
		return true
	case "tg-time":
		return !p.options.NoTime
	}
	return false
}

func (p *parser) startTag() error {
	begin := p.pos
	p.pos++
	name := strings.ToLower(p.until(">"))
	if p.pos == len(p.source) {
		return refuse("Unclosed start tag at byte offset %d", begin)
	}
	if !p.knows(name) {
		return refuse(`Unsupported start tag "%s" at byte offset %d`, name, begin)
	}
	tag := openTag{name: name, offset: p.units, begin: p.text.Len()}
	for {
		p.skipSpace()
		if p.at() == '>' {
			break
		}
		if err := p.attribute(&tag, begin); err != nil {
			return err
		}
	}
	p.pos++
	if name == "span" && tag.argument != "spoiler" {
		return refuse(`Tag "span" must have class "tg-spoiler" at byte offset %d`, begin)
	}
	p.open = append(p.open, tag)
	return nil
}

// attribute reads one attribute of a start tag that began at begin.
func (p *parser) attribute(tag *openTag, begin int) error {
	name := p.until("=>/\"'")
	if name == "" {
		return refuse(`Empty attribute name in the tag "%s" at byte offset %d`, tag.name, begin)
	}
	p.skipSpace()
	if p.pos < len(p.source) && p.at() != '=' {
		if tag.name == "blockquote" && name == "expandable" {
			tag.argument = "1"
		}
		return nil
	}
	if p.pos < len(p.source) {
		p.pos++
	}
	p.skipSpace()
	if p.pos == len(p.source) {
		return refuse(`Unclosed start tag "%s" at byte offset %d`, tag.name, begin)
	}
	value, err := p.attributeValue()
	if err != nil {
		return err
	}
	if p.pos == len(p.source) {
		return refuse("Unclosed start tag at byte offset %d", begin)
	}
	tag.take(name, value)
	return nil
}

// attributeValue reads a quoted value, or a bare word of letters, digits, periods and
// hyphens.
func (p *parser) attributeValue() (string, error) {
	quote := p.at()
	if quote != '"' && quote != '\'' {
		start := p.pos
		for c := p.at(); isLetter(c) || isDigit(c) || c == '.' || c == '-'; c = p.at() {
			p.pos++
		}
		if c := p.at(); c != 0 && c != '>' && !isSpace(c) {
			return "", refuse("Unexpected end of name token at byte offset %d", start)
		}
		return strings.ToLower(p.source[start:p.pos]), nil
	}
	p.pos++
	var value strings.Builder
	for p.pos < len(p.source) && p.source[p.pos] != quote {
		if r, size := decodeReference(p.source[p.pos:]); p.source[p.pos] == '&' && size > 0 {
			value.WriteRune(r)
			p.pos += size
			continue
		}
		value.WriteByte(p.source[p.pos])
		p.pos++
	}
	if p.pos < len(p.source) {
		p.pos++
	}
	return value.String(), nil
}

// take keeps an attribute if it means something for the tag.
func (t *openTag) take(name, value string) {
	switch t.name + " " + name {
	case "a href", "tg-emoji emoji-id", "tg-time format":
		t.argument = value
	case "code class":
		if language, ok := strings.CutPrefix(value, "language-"); ok {
			t.argument = language
		}
	case "span class":
		if class, ok := strings.CutPrefix(value, "tg-"); ok {
			t.argument = class
		}
	case "blockquote expandable":
		t.argument = "1"
	case "tg-time unix":
		t.unix, _ = strconv.ParseInt(value, 10, 32)
	}
}

// close makes the entity of a tag that has ended and covers some text.
func (p *parser) close(tag openTag) error {
	e := Entity{Offset: tag.offset, Length: p.units - tag.offset}
	if typ, ok := plainTag(tag.name); ok {
		e.Type = typ
		p.list = append(p.list, e)
		return nil
	}
	switch tag.name {
	case "blockquote":
		e.Type = Blockquote
		if tag.argument != "" {
			e.Type = Expandable
		}
	case "tg-emoji":
		if id, err := strconv.ParseInt(tag.argument, 10, 64); err != nil || id == 0 {
			return refuse("Invalid custom emoji identifier specified")
		}
		e.Type, e.CustomEmojiID = CustomEmoji, tag.argument
	case "tg-time":
		if !timeFormat.MatchString(tag.argument) {
			return refuse("Invalid date-time format specified")
		}
		if tag.unix <= 0 {
			return nil
		}
		e.Type, e.UnixTime, e.DateTimeFormat = DateTime, tag.unix, tag.argument
	case "a":
		link := tag.argument
		if link == "" {
			link = p.text.String()[tag.begin:]
		}
		if !setLink(&e, link) {
			return nil
		}
	default: // pre, code
		return p.closeCode(tag, e)
	}
	p.list = append(p.list, e)
	return nil
}

// closeCode makes one pre of pre and code with a language around the same text.
func (p *parser) closeCode(tag openTag, e Entity) error {
	var last *Entity
	if n := len(p.list); n > 0 && p.list[n-1].Offset == e.Offset && p.list[n-1].Length == e.Length {
		last = &p.list[n-1]
	}
	switch {
	case tag.name == "pre" && last != nil && last.Type == Code && last.Language != "":
		last.Type = Pre
	case tag.name == "code" && last != nil && last.Type == Pre && tag.argument != "":
		last.Language = tag.argument
	case tag.name == "pre":
		e.Type = Pre
		p.list = append(p.list, e)
	default:
		e.Type, e.Language = Code, tag.argument // the language is dropped if no pre comes
		p.list = append(p.list, e)
	}
	return nil
}

// timeFormat is what tg-time takes: relative, or weekday, date and time, short or long.
var timeFormat = regexp.MustCompile(`^(r|w?[dD]?[tT]?)$`)

// setLink makes a text_mention or a text_link. It reports false for what Telegram does
// not take as a link; the text then stays plain.
func setLink(e *Entity, link string) bool {
	if rest, ok := strings.CutPrefix(link, "tg://user?id="); ok {
		if id, err := strconv.ParseInt(rest, 10, 64); err == nil && id > 0 {
			e.Type, e.User = TextMention, &Mention{ID: id}
			return true
		}
	}
	link = strings.TrimSpace(link)
	if !strings.Contains(link, "://") {
		link = "http://" + link
	}
	u, err := url.Parse(link)
	if err != nil || u.Host == "" {
		return false
	}
	switch u.Scheme {
	case "tg", "ton", "tonsite":
	case "http", "https", "ftp":
		if !strings.Contains(u.Hostname(), ".") && u.Hostname() != "localhost" {
			return false
		}
		u.Host = strings.ToLower(u.Host)
		if u.Path == "" {
			u.Path = "/"
		}
	default:
		return false
	}
	e.Type, e.URL = TextLink, u.String()
	return true
}
