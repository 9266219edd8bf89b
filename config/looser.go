package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Loosening is one thing that a configuration allows and an older one did not.
type Loosening struct {
	Code string // what it is, a word of [Looser]
	Of   string // whom or what it is about: a person's id, or an index in the new configuration; may be ""
	What string // one sentence, for people
}

// Looser says what newer rights allow that older ones did not, in the order of people,
// routes, streams and the confirm step. What counts, by its code:
//
//	owner_added, owner_promoted, owner_id_changed   somebody may answer
//	reader_added       somebody may look
//	route_owners       more owners may answer what falls under a route
//	route_quorum       fewer of them must approve it
//	route_chats        its cards are shown in another place, to whoever is there
//	stream_wider       more runtimes, or more ids, are taken from a stream, whose
//	                   policies then trust whoever may write it
//	halts_one_tap, unseen_allowed, dwell_shorter    an approval takes less
//	unmasked           what looks like a secret is shown
//
// Limits, words, times to answer and a confirm step's window are not counted: they let
// nobody answer who could not, and an answer takes what it took. Policies are compared
// by another room. Where matches of routes may overlap, what is said may be too much,
// not too little.
func Looser(before, after Rights) []Loosening {
	found := slices.Concat(looserPeople(before, after), looserRoutes(before, after), looserStreams(before, after))
	if before.Halts == HaltsTwoStep && after.Halts == HaltsOneTap {
		found = append(found, Loosening{Code: "halts_one_tap", What: "a halt is approved with one tap"})
	}
	if before.Unseen == UnseenRefuse && after.Unseen == UnseenWarn {
		found = append(found, Loosening{Code: "unseen_allowed", What: "Yes counts though lines were not opened"})
	}
	if after.Dwell < before.Dwell {
		found = append(found, Loosening{Code: "dwell_shorter", What: fmt.Sprintf("Yes counts after %d ms, which were %d", after.Dwell, before.Dwell)})
	}
	if before.Masked && !after.Masked {
		found = append(found, Loosening{Code: "unmasked", What: "what looks like a secret is not masked any more"})
	}
	return found
}

func looserPeople(before, after Rights) []Loosening {
	was := Config{People: before.People}
	is := Config{People: after.People}
	var found []Loosening
	for _, p := range after.People {
		old, known := was.Person(p.ID)
		who := fmt.Sprintf("%s (%d)", p.Name, p.ID)
		l := Loosening{Of: strconv.FormatInt(p.ID, 10)}
		switch {
		case known && (old.Role == p.Role || p.Role != RoleOwner):
			continue
		case known:
			l.Code, l.What = "owner_promoted", who+" was a reader and is an owner now"
		case p.Role != RoleOwner:
			l.Code, l.What = "reader_added", who+" may look now"
		default:
			l.Code, l.What = "owner_added", who+" is an owner now"
			i := slices.IndexFunc(before.People, func(o Person) bool {
				_, stays := is.Person(o.ID)
				return o.Name == p.Name && o.Role == RoleOwner && !stays
			})
			if i >= 0 {
				l.Code, l.What = "owner_id_changed", fmt.Sprintf("%s, who was %d", l.What, before.People[i].ID)
			}
		}
		found = append(found, l)
	}
	return found
}

func looserStreams(before, after Rights) []Loosening {
	var found []Loosening
	for i, s := range after.Streams {
		at := slices.IndexFunc(before.Streams, func(o Stream) bool { return o.Key == s.Key })
		var was Stream
		if at >= 0 {
			was = before.Streams[at]
		}
		more := slices.DeleteFunc(slices.Clone(s.Runtimes), func(pattern string) bool {
			return slices.ContainsFunc(was.Runtimes, func(o string) bool { return covers(o, pattern) })
		})
		l := Loosening{Code: "stream_wider", Of: strconv.Itoa(i)}
		switch {
		case len(more) > 0:
			l.What = s.Key + " takes more runtimes now: " + strings.Join(more, ", ")
		case !covers(was.IDs, s.IDs):
			l.What = s.Key + " takes more ids now: " + s.IDs
		default:
			continue
		}
		found = append(found, l)
	}
	return found
}

func looserRoutes(before, after Rights) []Loosening {
	old, list := before.resolved(), after.resolved()
	newcomers := slices.DeleteFunc(after.owners(), func(id int64) bool { return slices.Contains(before.owners(), id) })
	var found []Loosening
	for i, p := range list {
		var owners []int64
		var chats []Chat
		quorum := p.quorum
		for j, o := range old {
			if !meets(list[:i], old[:j], p.match, o.match) {
				continue
			}
			quorum = max(quorum, o.quorum)
			for _, id := range p.owners {
				said := !p.listed && slices.Contains(newcomers, id) // among the people
				if !said && !slices.Contains(o.owners, id) && !slices.Contains(owners, id) {
					owners = append(owners, id)
				}
			}
			for _, c := range p.chats {
				said := p.direct && slices.Contains(newcomers, c.ID)
				if !said && !slices.Contains(o.chats, c) && !slices.Contains(chats, c) {
					chats = append(chats, c)
				}
			}
		}
		of, title := strconv.Itoa(i), "the route for "+p.match.title()
		if p.direct {
			of, title = "", "what no route is for"
		}
		if len(owners) > 0 {
			found = append(found, Loosening{Code: "route_owners", Of: of, What: title + ": may be answered by " + numbers(owners) + " now"})
		}
		if quorum > p.quorum {
			found = append(found, Loosening{Code: "route_quorum", Of: of, What: fmt.Sprintf("%s: %d must approve, which were %d", title, p.quorum, quorum)})
		}
		if len(chats) > 0 {
			found = append(found, Loosening{Code: "route_chats", Of: of, What: title + ": cards are shown in " + named(chats) + " now"})
		}
	}
	return found
}

// meets reports whether a request may fall under a route now and under another one
// before, given the routes ahead of them.
func meets(ahead, aheadBefore []resolved, now, before Match) bool {
	if !overlap(now, before) {
		return false
	}
	taken := func(p resolved) bool { return p.match.covers(now) || p.match.covers(before) }
	return !slices.ContainsFunc(ahead, taken) && !slices.ContainsFunc(aheadBefore, taken)
}

// covers reports whether all that fits n is sure to fit m.
func (m Match) covers(n Match) bool {
	return covers(m.Runtime, n.Runtime) && covers(m.Tool, n.Tool) &&
		(m.Kind == "" || m.Kind == n.Kind) && (m.Tier == "" || m.Tier == n.Tier)
}

// covers reports whether all that fits a pattern is sure to fit another; "" is any
// text. A * in the narrower one can only be met by a * in the wider.
func covers(wide, narrow string) bool {
	return wide == "" || wide == narrow || narrow != "" && Glob(wide, narrow)
}

// overlap reports whether something may fit both.
func overlap(m, n Match) bool {
	apart := func(a, b string) bool { return a != "" && b != "" && a != b }
	toolless := func(a, b Match) bool { return a.Kind == KindHalt && b.Tool != "" && !Glob(b.Tool, "") }
	return !apart(m.Kind, n.Kind) && !apart(m.Tier, n.Tier) && may(m.Runtime, n.Runtime) && may(m.Tool, n.Tool) &&
		!toolless(m, n) && !toolless(n, m)
}

// may reports whether something may fit both patterns.
func may(a, b string) bool {
	p, wildA := fixed(a)
	q, wildB := fixed(b)
	switch {
	case a == "" || b == "":
		return true
	case !wildA:
		return Glob(b, a)
	case !wildB:
		return Glob(a, b)
	}
	return strings.HasPrefix(p, q) || strings.HasPrefix(q, p)
}

// fixed is how all that fits a pattern begins, and whether more may follow.
func fixed(pattern string) (string, bool) {
	begins, _, wild := strings.Cut(pattern, "*")
	return begins, wild
}

// title says for which requests it is.
func (m Match) title() string {
	var parts []string
	for _, part := range []struct{ name, text string }{
		{"runtime", m.Runtime}, {"tool", m.Tool}, {"kind", m.Kind}, {"tier", m.Tier},
	} {
		if part.text != "" {
			parts = append(parts, part.name+" "+part.text)
		}
	}
	if len(parts) == 0 {
		return "every request"
	}
	return strings.Join(parts, ", ")
}

func numbers(ids []int64) string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = strconv.FormatInt(id, 10)
	}
	return strings.Join(texts, ", ")
}

func named(chats []Chat) string {
	texts := make([]string, len(chats))
	for i, c := range chats {
		texts[i] = strconv.FormatInt(c.ID, 10)
		if c.Thread != 0 {
			texts[i] += " (topic " + strconv.Itoa(c.Thread) + ")"
		}
	}
	return strings.Join(texts, ", ")
}
