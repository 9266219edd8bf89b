package store

import (
	"strconv"
)

// Keys names every key of one namespace. All carry the namespace in braces, so
// that one queue lives in one cluster slot and a script may touch any of them.
type Keys struct{ tag string }

// NewKeys returns the keys of a namespace.
func NewKeys(namespace string) Keys { return Keys{tag: "{" + namespace + "}:"} }

// Requests is the default inbound stream.
func (k Keys) Requests() string { return k.tag + "requests" }

// Answers is the stream of all events out.
func (k Keys) Answers() string { return k.tag + "answers" }

// Answer is the stream of one approval's events out.
func (k Keys) Answer(id string) string { return k.tag + "answer:" + id }

// Row is the durable record of one approval, a hash.
func (k Keys) Row(id string) string { return k.tag + "row:" + id }

// Claim is the claim of one approval, a hash that runtimes write.
func (k Keys) Claim(id string) string { return k.tag + "claim:" + id }

// Deadlines is a sorted set of open approvals by deadline.
func (k Keys) Deadlines() string { return k.tag + "deadlines" }

// Chain is the audit: all transitions, each holding the hash of the one before, a
// stream.
func (k Keys) Chain() string { return k.tag + "audit" }

// ChainHead says where the audit's chain ends and begins, a hash.
func (k Keys) ChainHead() string { return k.tag + "audit:head" }

// Dead is the stream of entries that could not be taken.
func (k Keys) Dead() string { return k.tag + "dead" }

// Alive is there while a bot serves the namespace.
func (k Keys) Alive() string { return k.tag + "alive" }

// Prefix is how every key of the namespace begins.
func (k Keys) Prefix() string { return k.tag }

// The bot's own memory. Nobody else reads or writes these.

// memory holds an open approval's confirm step and votes, a hash.
func (k Keys) memory(id string) string { return k.tag + "bot:approval:" + id }

// cards is the set of an approval's card ids.
func (k Keys) cards(id string) string { return k.tag + "bot:cards:" + id }

// card is one card's whereabouts, a hash.
func (k Keys) card(cid string) string { return k.tag + "bot:card:" + cid }

// message leads from a message of ours to its card, a string.
func (k Keys) message(chat int64, message int) string {
	return k.tag + "bot:message:" + strconv.FormatInt(chat, 10) + ":" + strconv.Itoa(message)
}

// open is a sorted set of the approvals open in a chat, by message id.
func (k Keys) open(chat int64) string { return k.tag + "bot:open:" + strconv.FormatInt(chat, 10) }

// closed is a sorted set of those answered there within the hour, by when.
func (k Keys) closed(chat int64) string { return k.tag + "bot:closed:" + strconv.FormatInt(chat, 10) }

// failed is the set of approvals with a card that failed in a chat.
func (k Keys) failed(chat int64) string { return k.tag + "bot:failed:" + strconv.FormatInt(chat, 10) }

// moved leads from groups to the supergroups they became, a hash.
func (k Keys) moved() string { return k.tag + "bot:moved" }

// ref leads from a short reference to its approval, a string.
func (k Keys) ref(ref string) string { return k.tag + "bot:ref:" + ref }

// withdrawn remembers a withdrawal that came before its request, a hash.
func (k Keys) withdrawn(id string) string { return k.tag + "bot:withdrawn:" + id }

// dirty is the changes feed: what to look at again, by the time to do so.
func (k Keys) dirty() string { return k.tag + "bot:dirty" }

// wake is a short stream that wakes whoever waits on the changes feed.
func (k Keys) wake() string { return k.tag + "bot:wake" }

// reminders is a sorted set of open approvals by the time to remind.
func (k Keys) reminders() string { return k.tag + "bot:reminders" }

// lapsed is a sorted set of approvals that lapsed, by when.
func (k Keys) lapsed() string { return k.tag + "bot:lapsed" }

// audit is the list of transitions not yet chained.
func (k Keys) audit() string { return k.tag + "bot:audit" }

// signing is there where answers are signed: key, the id of the key that signs, and
// audit_from, the first entry of the audit that is signed; a hash.
func (k Keys) signing() string { return k.tag + "bot:signing" }

// lease says which process polls and sends, a hash.
func (k Keys) lease() string { return k.tag + "bot:lease" }

// notice is a message about several approvals or none, a hash.
func (k Keys) notice(nid string) string { return k.tag + "bot:notice:" + nid }

// told lists the approvals that a shared notice speaks for, in order.
func (k Keys) told(nid string) string { return k.tag + "bot:told:" + nid }

// alarms holds when each runtime last raised an alarm, a hash.
func (k Keys) alarms() string { return k.tag + "bot:alarms" }

// alarmed is there once an approval has raised its alarm.
func (k Keys) alarmed(id string) string { return k.tag + "bot:alarmed:" + id }

// tampered is there once the owners were told that somebody changed an answered row.
func (k Keys) tampered(id string) string { return k.tag + "bot:tampered:" + id }

// offset is the update id confirmed to Telegram, a string.
func (k Keys) offset() string { return k.tag + "bot:offset" }

// updates is a sorted set of handled update ids by time.
func (k Keys) updates() string { return k.tag + "bot:updates" }

// aside is a stream of updates that could not be read.
func (k Keys) aside() string { return k.tag + "bot:aside" }

// settings holds what was told to Telegram, a hash (the command list).
func (k Keys) settings() string { return k.tag + "bot:settings" }
