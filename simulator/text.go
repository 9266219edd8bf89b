package simulator

import (
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"countersign/simulator/entities"
)

// Limits of texts.
const (
	maxRawText = 32_768 // bytes before parsing
	maxText    = 4_096  // code points after parsing
	maxCaption = 1_024  // code points after parsing
)

// A styled text is a text with its entities.
type styled struct {
	text     string
	entities []Entity
}

// styledText reads a text parameter with its formatting, as the server keeps it. The
// caller holds mu, because mentions name users.
func (s *Server) styledText(c *call, textParam, entitiesParam string) (styled, error) {
	raw := c.text(textParam)
	if len(raw) > maxRawText {
		return styled{}, s.errs.wrong("text is too long")
	}
	list, text, err := s.formatting(c, raw, entitiesParam)
	if err != nil {
		return styled{}, err
	}
	text, list = entities.Fix(text, list)
	if len(list) > entities.MaxEntities {
		c.warn("more than 100 entities; the server drops the later ones")
		list = list[:entities.MaxEntities]
	}
	list = slices.DeleteFunc(list, func(e Entity) bool { return e.User != nil && !s.nameMention(e.User) })
	return styled{text, entities.Autolink(text, list)}, nil
}

// formatting applies the parse mode, or the entities that were sent.
func (s *Server) formatting(c *call, raw, entitiesParam string) ([]Entity, string, error) {
	switch mode := c.text("parse_mode"); strings.ToLower(mode) {
	case "":
		list, err := s.sentEntities(c, raw, entitiesParam)
		return list, raw, err
	case "html":
		text, list, err := entities.ParseHTML(raw, entities.Options{NoTime: s.options.NoTgTime})
		var refusal *entities.ParseError
		if errors.As(err, &refusal) {
			return nil, "", refused("can't parse entities: %s", refusal.Text)
		}
		return list, text, err
	case "markdown", "markdownv2":
		return nil, "", refused("the simulator does not simulate parse_mode %s", mode)
	}
	return nil, "", refused("unsupported parse_mode")
}

func (s *Server) sentEntities(c *call, text, param string) ([]Entity, error) {
	var list []Entity
	if err := c.object(param, &list); err != nil {
		return nil, err
	}
	limit := entities.UTF16Len(text)
	kept := list[:0]
	for _, e := range list {
		switch {
		case entities.IsAutomatic(e.Type):
			continue // found again below
		case !entities.IsSettable(e.Type):
			return nil, refused("unsupported type specified for entity: %s", e.Type)
		case e.End() > limit:
			return nil, refused("entity beginning at UTF-16 offset %d ends after the end of the text at UTF-16 offset %d", e.Offset, e.End())
		case !entities.InBounds(text, e):
			return nil, refused("entity beginning at UTF-16 offset %d ends in a middle of a UTF-16 symbol at UTF-16 offset %d", e.Offset, e.End())
		}
		kept = append(kept, e)
	}
	return kept, nil
}

// nameMention completes the user of a text_mention. It reports false for somebody whom
// the bot does not know; the server then leaves the text plain.
func (s *Server) nameMention(m *entities.Mention) bool {
	u := s.users[m.ID]
	if u == nil {
		return false
	}
	*m = entities.Mention{ID: u.ID, IsBot: u.IsBot, FirstName: u.FirstName, Username: u.Username}
	return true
}

// messageText reads the text of a message. tooLong is the error for more than 4096 code
// points, which differs between sending and editing.
func (s *Server) messageText(c *call, tooLong string) (styled, error) {
	t, err := s.styledText(c, "text", "entities")
	if err != nil {
		return styled{}, err
	}
	switch n := utf8.RuneCountInString(t.text); {
	case n == 0:
		return styled{}, s.errs.wrong("message text is empty")
	case n > maxText:
		return styled{}, s.errs.wrong(tooLong)
	}
	return t, nil
}

func (s *Server) caption(c *call) (styled, error) {
	t, err := s.styledText(c, "caption", "caption_entities")
	if err != nil {
		return styled{}, err
	}
	if utf8.RuneCountInString(t.text) > maxCaption {
		return styled{}, s.errs.wrong("message caption is too long")
	}
	return t, nil
}
