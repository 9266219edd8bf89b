// Package delivery brings cards in line with rows. It is the one place that
// sends cards, edits them and posts notices.
//
// # How
//
// The changes feed says that an approval is to be looked at. The [Reconciler]
// reads it, renders what each of its cards should look like, compares with what
// was drawn last (a digest), and sends or edits; then it settles the mark for
// the revision it read. Whatever answered, Telegram, the command line, the
// sweeper or a runtime, the cards follow the same way. A lost, doubled or
// reordered mark does no harm, and a restart just compares again.
//
// A message tells of each mark. Work begins from it where the mark is due, without
// asking what else is; what it may have missed is found once a second, and at once where
// there was no room for it. The record of what was sent or edited last of an approval
// settles its mark in the same step, if by the plan nothing is left to do and nothing
// has changed since the reading: else it is read and planned again.
//
// Work is split by approval and chat, so that a chat that must wait holds up no
// other; beyond a hundred things under way in one chat, new cards stand in line
// without being in hand. What waits for its turn is rendered only when the turn
// has come.
//
// # Sending
//
// The Bot API has no idempotency key: a send is intent, send, record (the intent
// of a new card in the step that makes it), each with
// the lease's number (package store). One process at a time sends, the one
// that holds the lease ([Lead]).
//
// # When Telegram fails
//
// Failures that may pass are tried again, with pauses that grow to a minute and
// end when the approval changes; a limit is obeyed for its chat alone, or for
// the whole bot where several chats get one within a second. A chat that is out for good fails its card; when
// every card of an open approval has failed, the approval is refused as
// unreachable, since what cannot be asked is refused. Formatting that Telegram
// refuses is sent again as plain text with the same buttons.
package delivery
