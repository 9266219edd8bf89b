// Package cards turns a row, a view of it and a moment into what Telegram
// shows: text, keyboard and callback data. It is pure: no clock, no network, no
// randomness, and no state but the [Layouts] that a caller lends it, which change
// nothing but the time it takes. The same input gives the same bytes, so that a
// digest ([Message.Hash]) tells whether a card has to be edited.
//
// # A card, from top to bottom
//
//	🔴 Deletes data                       badge line; after the end the outcome,
//	                                      and below it how the call fares
//	Trash 3 emails                        title, bold
//	1. Alpha                              lines, numbered over all pages
//	2. Beta
//	⚠️ Careful: hidden characters are …   where any had to be shown as a code
//	Can be undone for 30 days, …          while a confirm step is open, both stand
//	                                      below its question instead
//	You asked: clean up my inbox          what the owner asked for
//	                                      a halt: why it stopped
//	#K7QF2 · risk destroy · from iris     the small line
//	Unanswered, it lapses in 58 minutes, and nothing is done.
//	Reply approve or reject, or send /approve K7QF2
//	Trash 3 emails?                       while a confirm step is open, instead of
//	                                      how to reply
//
// # Text of a runtime
//
// Everything a runtime sent is shown literally. [Neutral] gives the visible
// form of its text; package-wide types keep the two kinds of text apart: words
// are ours, shown is a runtime's after [Neutral], and the builder takes nothing
// else, so that no raw text can reach a message. Blocks of it stand in one
// monospace run, in which Telegram looks for no link, command, mention or
// hashtag. The title is bold and names stand in plain text, where U+2060 put in
// by us breaks what Telegram would link; it is the only character of ours
// inside text of a runtime, and never in the exact call or in a file. Where words
// of ours follow a text that is read from right to left, U+200E stands between the
// two, so that ours keep their order.
//
// # The exact call
//
// Exact call shows the pinned calls as canonical JSON, indented, beside the
// lines; one too long for that is sent as a file. What cannot be seen in it is
// written as JSON escapes, so that it reads back as the very value that the pin
// covers. What looks like a secret (keys, tokens, passwords, PEM) is masked there
// and everywhere else, which the card says, unless [Settings.Redact] is off.
//
// # Limits
//
// Characters are counted as UTF-16 units after parsing, which is safe under
// either way of counting. A message has at most 4,096 of them, 32,768 bytes of
// HTML and 100 entities, whatever the input. A line is cut at 1,500 characters
// after marking, request and summary at 500, and the card says so. (Where title,
// request and summary are all near their limits, a line is cut a little earlier
// for want of room.) The fixed parts of a row decide how much room its lines
// get, so its pages are the same in every state and line k stands on one page.
//
// # Buttons
//
// Callback data is a letter, the card's id and a revision ([Press]): a key to
// look things up with, not a right. The text of a button is never markup, and
// no text of a runtime is shown on a button in a way that looks like one of
// ours: a text that begins with a word of ours, or is not plainly written, reads
// `Approve: <text>`. A list has buttons too: they carry a reference instead of a
// card's id, and do what the command with that reference does.
//
// # Shortcuts
//
// Most text is everyday: nothing in it is hidden, linked or secret, and no action
// sounds like ours. It is looked through once for that, byte by byte, and only what
// may hold such a thing is taken apart, folded or searched with patterns. Whether the
// exact call has room is measured without writing it. Tests draw the same without any
// shortcut, and compare.
//
// All words that a person sees live in words.go.
package cards
