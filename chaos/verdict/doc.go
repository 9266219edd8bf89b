// Package verdict judges a chaos run: it holds what Redis keeps and what Telegram
// was told against what people and runtimes did, promise by promise.
//
// It knows no clock, no Redis and no Telegram, and shares no code with the bot:
// everything it needs lies in an [Evidence], which can be written to a file and
// judged again. [Check] finds violations; each says in words which promise is
// broken and by what.
//
// # What is checked
//
//   - Every request has one row and one answer, the same bytes in the row, on the
//     stream of all answers and on the approval's own; and nothing else has.
//   - Terms, pin and request are those that were asked.
//   - Approved is only what an owner approved: a tap on the action of a card of
//     that approval, then Yes on a button that was shown, after the dwell, within
//     the window and before the deadline; or the words for it; or the operator.
//     Every other answer was asked for as well, or was due.
//   - Known cards say what the row says, and offer nothing that is over. No card
//     ever said an outcome before the row had it, or another one.
//   - Every lapse was told once. A second card or notice is there only where the
//     send before it was interrupted, or somebody asked to see the card again.
//   - Of all claims of an approval one was granted, and only of one approved.
//   - What runtimes were told never changed and never came twice.
//   - Every tap was answered, or it is known what swallowed the answer.
//   - What was to be set aside was set aside.
//   - Nothing is left to do.
package verdict
