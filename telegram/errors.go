package telegram

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Kind says what can be done about a failed call. The zero Kind is no failure.
type Kind int

// The kinds of failure. Telegram's codes and parameters decide first; its words only where a code has several meanings.
const (
	// Unauthorized: the token is wrong or revoked. Fatal: no later call can succeed.
	Unauthorized Kind = iota + 1
	// Conflict: another process polls with this token, or a webhook is set.
	Conflict
	// TooMany: a rate limit; wait [Error.RetryAfter]. It concerns the chat of the call, unless several chats get one.
	TooMany
	// Blocked: the chat is out for good: the bot was blocked or removed, or the chat does not exist or never started the bot.
	Blocked
	// Migrated: the group became a supergroup, whose id is [Error.MigrateTo]. Old messages cannot be edited there.
	Migrated
	// Parse: the formatting was refused; the same text goes through as plain text.
	Parse
	// NotModified: the edit changes nothing. [Client.Edit] takes it for success, so callers do not see it.
	NotModified
	// NotFoundMessage: the message to edit is gone, or its id is not known in that chat.
	NotFoundMessage
	// NotEditable: the message is there and can never be edited by this bot.
	NotEditable
	// ReplyGone: the message to reply to is gone.
	ReplyGone
	// ThreadGone: the topic is deleted, closed or unknown.
	ThreadGone
	// QueryTooOld: the tap can no longer be answered. What it decided stands.
	QueryTooOld
	// NoRights: the bot is in the chat and may not write there. An administrator of the chat can change that.
	NoRights
	// BadRequest: the call itself is wrong; repeating it is useless.
	BadRequest
	// Server: the server, or a proxy before it, failed or spoke something else than the Bot API.
	Server
	// Transport: no complete answer came: no connection, a reset, a timeout.
	Transport
)

// kindNames are short and stable, since they label metrics.
var kindNames = [...]string{
	0:               "none",
	Unauthorized:    "unauthorized",
	Conflict:        "conflict",
	TooMany:         "too_many",
	Blocked:         "blocked",
	Migrated:        "migrated",
	Parse:           "parse",
	NotModified:     "not_modified",
	NotFoundMessage: "not_found_message",
	NotEditable:     "not_editable",
	ReplyGone:       "reply_gone",
	ThreadGone:      "thread_gone",
	QueryTooOld:     "query_too_old",
	NoRights:        "no_rights",
	BadRequest:      "bad_request",
	Server:          "server",
	Transport:       "transport",
}

// String returns a stable lower-case name, fit for a metric label.
func (k Kind) String() string {
	if k < 0 || int(k) >= len(kindNames) {
		return "unknown"
	}
	return kindNames[k]
}

// Temporary reports whether the same call may succeed later with no change on our side.
func (k Kind) Temporary() bool {
	return k == Conflict || k == TooMany || k == Server || k == Transport
}

// Error is the failure of one call. Find it with errors.As; every error of a [Client] is one.
// Its text, and that of everything it wraps, is free of the bot token.
type Error struct {
	Kind        Kind
	Method      string        // the Bot API method, such as sendMessage
	Code        int           // Telegram's error code or else the HTTP status; 0 where no answer came
	Description string        // the server's words, at most 300 characters of one line; may be empty
	RetryAfter  time.Duration // TooMany only: at least 1 s, at most 24 h
	MigrateTo   int64         // Migrated only: the new chat id
	TimeTag     bool          // Parse only: the server does not know the tag <tg-time>
	Ambiguous   bool          // the request may have been carried out all the same
	Err         error         // the cause below; nil where Telegram answered
}

// Error returns one line that names the method, the code and the cause.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("telegram ")
	b.WriteString(e.Method)
	b.WriteString(": ")
	b.WriteString(e.Kind.String())
	if e.Code != 0 {
		fmt.Fprintf(&b, " (%d)", e.Code)
	}
	if e.Description != "" {
		b.WriteString(": ")
		b.WriteString(e.Description)
	}
	if e.Err != nil {
		b.WriteString(": ")
		b.WriteString(e.Err.Error())
	}
	return b.String()
}

// Unwrap returns the cause, such as context.DeadlineExceeded.
func (e *Error) Unwrap() error { return e.Err }

// isKind reports whether err is an *Error of kind k.
func isKind(err error, k Kind) bool {
	var e *Error
	return errors.As(err, &e) && e.Kind == k
}
