// Package page is a chat page for the simulated Bot API: a browser shows what the
// people of a [simulator.Server] see, and lets its user write and tap as any of them.
// Beside the chats it shows sample runtimes, which [Runtimes] provides, and troubles to
// press, which [Faults] does.
//
// # What it serves
//
//	GET  /                           the page
//	GET  /static/NAME                its style sheets and scripts
//	GET  /api/snapshot?as=ID         what a person sees now, as JSON
//	GET  /api/events?as=ID           the same as a stream of server-sent events
//	GET  /api/file/CHAT/MESSAGE?as=ID  the document of a message
//	POST /api/send                   {"as","chat","thread"?,"reply_to"?,"text"} writes a message
//	POST /api/tap                    {"as","chat","message","data"} taps a button
//	POST /api/sample                 {"sample"} lets a runtime publish a request
//	POST /api/fault                  {"fault","end"?} brings a fault about, or ends it
//
// A failure is answered with {"error": "…"} and a fitting status. Everything works
// without any other server, and nothing is built: the scripts are served as they are.
//
// # The stream
//
// Every event carries an id, the position behind it. A client that comes back with
// Last-Event-ID goes on from there; one that brings none, or one that is too old or of
// another server, first gets an event with everything:
//
//	snapshot  [Snapshot]
//	message   a message that was sent or edited, as it is now
//	deleted   {"chat","message"}
//	tapped    {"chat","message","user","callback","data"} somebody tapped a button
//	answered  {"chat","user","callback","text"?,"alert"?} what the person who tapped was told
//	action    {"chat","thread"?,"text"} the bot is typing, uploading and the like
//	entry     [Entry]
//	board     [Board], at the beginning and when it has changed
//
// Events say how things are, not how they changed, so that one which comes twice does
// no harm. A person is sent what that person sees: the direct chat with the bot and the
// groups joined, and of answers only the own.
//
// # Who may do what
//
// Whoever reaches the page can be everybody on it. It belongs on a loopback address, and
// defends itself there against other pages in the same browser: a request must name the
// server by its IP address or as localhost, so that a foreign name cannot be pointed at
// it; a POST must come from the page itself and carry JSON; no GET changes anything; the
// page runs no script, style or frame but its own, and is shown in nobody else's frame.
// The scripts insert what people and bots wrote as text alone.
package page
