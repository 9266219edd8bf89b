// Package policy decides whether a request may pass without a card. It is pure:
// a decision is a function of the request and of the operator's rules, and it is
// made once, when the row opens.
//
// # Who is believed
//
// The rules come from the operator's file alone; keys of the same name in an
// event mean nothing, and neither does a tier or rank in it. What an event says
// of its tools in risk.facts is believed as far as a ceiling goes: a ceiling
// trusts the runtimes. What the operator says of a tool is united with it, and so
// can only raise the risk. A mistake in the facts, be it a value that is no
// boolean or a name that is not known, makes the call unvetted, which is the
// highest rank.
//
// # The order
//
// For each call, the first of these that settles it:
//
//  1. a halt asks, and so does an empty name
//  2. effect destructive asks; so does everything where no policy fits
//  3. a name in require_approval_tools asks
//  4. a name in auto_approve_tools passes
//  5. approval pinned asks
//  6. what a refiner proves passes; no proof changes nothing, and an unvetted
//     call has no refiner
//  7. model_controlled_destination asks
//  8. a rank up to the ceiling passes
//  9. everything else asks
//
// Of several calls all must pass. A refiner's proof counts for a name only if it
// holds for every call of that name.
//
// # Names
//
// Names match exactly, without patterns. A name that lets a call pass is trimmed
// of spaces (U+0020) alone; one that holds it back, of all white space.
package policy
