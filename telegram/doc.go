// Package telegram is the only room that knows the Telegram Bot API.
//
// # What it promises
//
// A [Client] sends and edits text messages, sends files, answers taps and asks for updates. Each method is one
// request: nothing here repeats a call, waits for a rate limit or splits a text. Those are decisions for the caller,
// who knows what the message is for. Every failure is an [Error] whose [Kind] says what can be done about it.
//
// A [Poller] reads updates by long polling. It confirms an update to Telegram only after its [Sink] has kept it, so
// nothing is lost by a crash; an update may be delivered twice, and the sink tells the copies apart by [RawUpdate.ID].
// A [Webhook] gives the same promise for updates that Telegram delivers itself.
//
// [Decode] turns one raw update into the few fields this program acts on. It knows nothing about the rest of an
// update, so a new kind of message, button or media cannot make it fail.
//
// # What never happens
//
//   - The bot token appears in no error, log line or printed value. It is a part of every request's path, and so it
//     would otherwise come back in connection errors, redirects and the pages of a proxy.
//   - A redirect is followed. It would carry the token to another host.
//   - A link is previewed. A preview lets a third party fetch what a message names.
//   - A message is paid for (allow_paid_broadcast).
//   - A send is reported as failed although Telegram said it was done. Where the rest of such an answer cannot be read,
//     [Sent.Undecoded] says so.
//
// # What is ambiguous
//
// The Bot API has no idempotency key. When a connection breaks or times out after the request may have left,
// [Error.Ambiguous] is set: the message may be in the chat. Only the caller can tell whether a second copy is harmless.
//
// # How a request travels
//
// The library github.com/go-telegram/bot encodes most calls. It is given a placeholder in place of the token and the
// server, and a client of ours in place of net/http. That client, the type wire, turns the library's multipart form
// into JSON with a known length, addresses it, reads a bounded answer and judges it. The library then decodes a result
// that has been cut down to what is needed.
package telegram
