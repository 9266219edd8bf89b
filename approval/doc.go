// Package approval is the domain: a request, its terms, its fate. It is pure
// (no Redis, no Telegram, no clock) and every other room speaks its words.
//
// # Words
//
// A runtime publishes a [Request] and runs what was approved. An approval is
// one request and its fate; its durable record is the [Row]. What the runtime
// asked for are the approval's terms: they never change after the row opens,
// and [Terms] is their digest. [PinOf] is the digest of the calls alone; it is
// what a claim must name. An owner may answer, a reader may only look.
//
// # States
//
//	requested ─┬─ refused        ┌─ rejected
//	           └─ open ──────────┼─ lapsed, withdrawn, refused (unreachable)
//	                             └─ approved ── claimed ── executed | failed | partial ── undone
//
// Every approval that can be named gets exactly one [Answer], written in the
// same step that takes its row out of open. Reports come after the answer and
// never change it.
//
// # Who approves
//
// In Telegram an owner, through a confirm step ([Step]) that this same person
// opened on this same approval; a halt may take one tap. At the command line
// the operator. By policy the operator's file. Always before the deadline, by
// Redis's clock. [StepAllows] is the rule of the confirm step in Go; the scripts
// of package store enforce it again at the moment of the transition.
//
// # What is accepted
//
// The data of an event is one I-JSON object (RFC 7493) of at most [MaxData]
// bytes and [MaxNesting] levels: UTF-8, no key twice, no lone surrogate,
// integers within ±(2^53-1), numbers finite as a double. [Decode] and the other
// decoders name the first field in the wrong in an [*Invalid]. Where the one
// approval_id can be read beyond doubt the error carries it, and the request is
// refused; where the text is no JSON, or names no id, or two, it is a dead
// letter. A text that breaks a rule of I-JSON is still JSON, so its id counts;
// a text that is cut short is not.
//
// A request has a deadline, always: [Deadline] sets it, and nothing that a
// runtime can send means "never".
//
// # Identity
//
// An approval id is the runtime's own, one per issuance and unique in a
// namespace. The same id with the same terms is the same approval, however
// often it is sent; with other terms it is set aside and changes nothing.
package approval
