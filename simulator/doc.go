// Package simulator is a local Telegram Bot API server, for tests and for the demo.
//
// # What it is
//
// A [Server] answers the Bot API over HTTP for one bot and lets Go code play the other
// side: people who write, tap buttons, block the bot, delete messages. Everything is
// kept in memory. It knows nothing of the program that talks to it: calls are checked
// against the machine-readable description of the Bot API, and refused in the words
// that the real server uses, both of which are data files of this package.
//
//	s := simulator.New(simulator.Options{Now: time.Now})
//	defer s.Close()
//	url, err := s.Start("") // or use s as an http.Handler, or s.Client() without sockets
//	ann := s.AddUser(1001, "Ann")
//	ann.Start()
//	…
//	card, err := s.WaitMessage(ctx, ann.ID, func(m simulator.Message) bool { return m.Keyboard() != nil })
//	answer, err := ann.TapWait(ctx, card, "Approve")
//
// # Rules
//
// The server is strict. An unknown parameter or field, a missing one and a wrong type
// are answered with 400. Beyond that it keeps Telegram's rules: lengths, entities,
// keyboards, who may edit and delete what, topics, blocked and kicked bots, upgraded
// groups, the lifetime of updates and callback queries, one poller at a time. Methods
// of the Bot API that it does not simulate, and parse modes other than HTML, get an
// error that says so.
//
// # Answers and their classes
//
// Every call is in the log, [Server.Calls], with a [Class] that says whose fault a
// failure was. [Server.Refusals] lists the calls that were wrong in themselves; a test
// suite can require that there are none. [Server.Warnings] lists what the real server
// would accept but change in silence, for instance the 101st entity.
//
// # Time
//
// Dates, lifetimes and limits follow Options.Now, so that a test can hold the clock.
// Waiting (long polls, retries of webhooks, delays of faults) uses timers of the time
// package, which package testing/synctest controls; with [Server.Client] no socket is
// involved either. Nothing is ever polled in a loop.
//
// # Concurrency
//
// All methods may be called from several goroutines. One mutex guards all state of a
// Server. Values handed out do not change any more; they may share what they point to,
// so callers must not change them either.
package simulator
