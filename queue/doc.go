// Package queue is the door to the rows: the intake that takes events off the
// inbound streams, and the client with which other programs ask, wait, claim
// and report.
//
// # Events in
//
// A stream entry is one CloudEvents 1.0 event in binary mode: one field per
// attribute and data, a JSON text. Only type and data are needed, so that an
// event can be typed by hand. [Intake] knows four types:
//
//	approval.requested   opens a row, or refuses it
//	approval.withdrawn   the runtime no longer asks
//	approval.claimed     added by the claim itself; the row becomes claimed
//	approval.reported    what happened to an approved call
//
// Every entry ends in exactly one way: its effect is in Redis, or it had none
// because it was taken before, or it lies in the dead stream with the reason.
// A request that can be named is refused with an answer rather than set aside,
// so that no runtime waits in vain. Nothing that an entry holds stops or delays
// the next one.
//
// # Delivery
//
// Each stream is read by one consumer group, from its beginning, made again if
// it vanishes. A consumer first reads what it was given and never
// acknowledged, then takes over what others left idle, then reads what is new.
// An entry is acknowledged only after its effect is in Redis, in the exchange of the
// next read or, where none follows, at once. Delivery is therefore at least once, and
// every effect is one that does nothing the second time: a row opens once per id and
// terms, an answer is final, a report not newer than the last is old. These are the
// points at which a process can die:
//
//   - before the effect: the entry is delivered again and has its effect then;
//   - between the effect and the acknowledgement: it is delivered again and
//     changes nothing;
//   - between a shared notice and the rows it names: the notice is due a little
//     later and may name fewer rows than it counts; those opened by the next
//     delivery may get a second notice.
//
// An entry that somebody trims away before it was read or acknowledged cannot be
// taken. Redis tells how many those are: they are counted and logged, once.
//
// # Clocks
//
// Only Redis's clock decides: deadlines count from an entry's id, and now is
// TIME. Waiting uses timers of the process, whose clock nothing depends on.
package queue
