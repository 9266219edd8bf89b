package config

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxUserID bounds Telegram's ids, which have at most 52 significant bits.
const maxUserID = 1<<52 - 1

// nobody names the accounts that stand for many people, or none; Telegram puts them as
// the sender of what others wrote.
func nobody(id int64) string {
	switch id {
	case 1087968824:
		return "GroupAnonymousBot, behind which every anonymous administrator writes"
	case 136817688:
		return "Channel_Bot, behind which everybody with a channel writes"
	case 777000:
		return "Telegram's own service account, which forwards posts of channels"
	}
	return ""
}

func checkPeople(f *findings, people []Person) {
	owners := 0
	first := make(map[int64]int)
	for i, p := range people {
		key := element("people", i)
		switch {
		case nobody(p.ID) != "":
			f.add(child(key, "id"), "%d is %s; want the id of one person", p.ID, nobody(p.ID))
		case p.ID <= 0 || p.ID > maxUserID:
			f.add(child(key, "id"), "%d is not a user's id; want the numeric Telegram user id, which is above 0 (/start shows it)", p.ID)
		}
		if j, twice := first[p.ID]; twice {
			f.add(child(key, "id"), "%d is listed at %s already; want one entry for each person", p.ID, element("people", j))
		} else {
			first[p.ID] = i
		}
		checkName(f, child(key, "name"), p.Name)
		f.oneOf(child(key, "role"), p.Role, RoleOwner, RoleReader)
		if p.Role == RoleOwner {
			owners++
		}
	}
	if owners == 0 {
		f.add("people", "nobody is an owner, so nobody could approve; want at least one entry such as {id: 1001, name: Ann, role: owner}")
	}
}

func checkName(f *findings, key, name string) {
	const most = 64
	switch {
	case strings.TrimSpace(name) == "":
		f.add(key, "it is empty; want the name that cards show")
	case utf8.RuneCountInString(name) > most:
		f.add(key, "it has %d characters; want at most %d", utf8.RuneCountInString(name), most)
	case strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		f.add(key, "%s holds characters that do not print; want the name that cards show", quote(name))
	}
}
