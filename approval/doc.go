// Package approval is the domain: a request, its terms, its fate. It is pure
// (no Redis, no Telegram, no clock) and every other room speaks its words.
//
// # Words
//
// A runtime publishes a [Request] and runs what was approved. An approval is
// one request and its fate; its durable record is the [Row]. What the runtime
// asked for are the approval's terms: they never change after the row opens,
// and [Terms] is their digest. [Pin] is the digest of the calls alone; it is
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
// Redis's clock. [May] and [StepAllows] are those rules in Go; the scripts of
// package store enforce them again at the moment of the transition.
//
// # Identity
//
// An approval id is the runtime's own, one per issuance and unique in a
// namespace. The same id with the same terms is the same approval, however
// often it is sent; with other terms it is set aside and changes nothing.
package approval
