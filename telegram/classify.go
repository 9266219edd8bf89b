package telegram

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// longestRetry bounds a wait that a server asks for, so that a nonsense number cannot overflow or stop a chat for ever.
const longestRetry = 24 * time.Hour

// phrase ties words of Telegram to a kind. The words are matched anywhere in a description, in any case.
type phrase struct {
	words string
	kind  Kind
}

// phrases400 give the meanings of code 400 that need an action of their own; the first that fits wins.
// Upper-case words are names of the servers behind the Bot API, which it passes on as they are.
var phrases400 = []phrase{
	{"message is not modified", NotModified},
	{"message_not_modified", NotModified},
	{"can't parse entities", Parse},
	{"entities too long", Parse},
	{"text is too long", Parse}, // before the formatting is taken out
	{"message to edit not found", NotFoundMessage},
	{"reply_message_id_invalid", ReplyGone}, // before the next, which is a part of it
	{"message_id_invalid", NotFoundMessage},
	{"message can't be edited", NotEditable},
	{"message_edit_time_expired", NotEditable},
	{"there is no text in the message to edit", NotEditable},
	{"message to be replied not found", ReplyGone},
	{"message to reply not found", ReplyGone},
	{"thread not found", ThreadGone},
	{"topic_closed", ThreadGone},
	{"topic_deleted", ThreadGone},
	{"topic_id_invalid", ThreadGone},
	{"query is too old", QueryTooOld},
	{"query_id_invalid", QueryTooOld},
	{"chat not found", Blocked},
	{"user not found", Blocked},
	{"peer_id_invalid", Blocked},
	{"user_is_blocked", Blocked},
	{"user_is_deactivated", Blocked},
	{"input_user_deactivated", Blocked},
	{"is deactivated", Blocked},
	{"chat was deleted", Blocked},
	{"logged out", Unauthorized},
}

// phrasesRights are said with code 400 or 403.
var phrasesRights = []phrase{
	{"not enough rights", NoRights},
	{"no write access", NoRights},
	{"need administrator rights", NoRights},
	{"chat_write_forbidden", NoRights},
	{"chat_admin_required", NoRights},
	{"chat_restricted", NoRights},
	{"chat_send_", NoRights},
	{"user_banned_in_channel", NoRights},
}

// classify judges an answer that says no. It never returns nil.
func classify(method string, status int, header http.Header, a answer) *Error {
	code := a.ErrorCode
	if code == 0 {
		code = status
	}
	e := &Error{Method: method, Code: code, Description: a.Description, Kind: BadRequest}
	words := strings.ToLower(a.Description)
	switch {
	case code == http.StatusTooManyRequests:
		e.Kind, e.RetryAfter = TooMany, retryAfter(a.Parameters.RetryAfter, header)
	case code < 300, code >= 500, code < 400:
		// A 2xx that says no, and a redirect, come from something else than the Bot API.
		e.Kind, e.Ambiguous = Server, code >= 500
		if strings.Contains(words, "sent message was immediately deleted") {
			// Another bot of the chat removes what we send: sending again would only feed it.
			e.Kind, e.Ambiguous = NoRights, false
		}
	case code == http.StatusUnauthorized, code == http.StatusMisdirectedRequest:
		e.Kind = Unauthorized
	case code == http.StatusNotFound && !strings.Contains(words, "method not found"):
		// The path is /bot<token>/<method>: what is not found is the token.
		e.Kind = Unauthorized
	case code == http.StatusConflict:
		e.Kind = Conflict
	case a.Parameters.MigrateToChatID != 0:
		e.Kind, e.MigrateTo = Migrated, a.Parameters.MigrateToChatID
	case code == http.StatusForbidden:
		e.Kind = match(words, Blocked, phrasesRights)
	case code == http.StatusBadRequest:
		e.Kind = match(words, BadRequest, phrases400, phrasesRights)
		e.TimeTag = e.Kind == Parse && strings.Contains(words, "tg-time")
	}
	return e
}

// match returns the kind of the first phrase found in words, which are lower-case.
func match(words string, otherwise Kind, lists ...[]phrase) Kind {
	for _, list := range lists {
		for _, p := range list {
			if strings.Contains(words, p.words) {
				return p.kind
			}
		}
	}
	return otherwise
}

// retryAfter takes the wait from the answer, or else from the header that proxies set.
func retryAfter(seconds int64, header http.Header) time.Duration {
	if seconds <= 0 {
		seconds, _ = strconv.ParseInt(strings.TrimSpace(header.Get("Retry-After")), 10, 64)
	}
	return time.Duration(min(max(seconds, 1), int64(longestRetry/time.Second))) * time.Second
}
