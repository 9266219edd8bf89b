package telegram

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// answer is the envelope of every Bot API answer.
type answer struct {
	OK          bool   `json:"ok"`
	Result      any    `json:"result"` // a pointer to what it is decoded into
	ErrorCode   int    `json:"error_code"`
	Description string `json:"description"`
	Parameters  struct {
		RetryAfter      int64 `json:"retry_after"`
		MigrateToChatID int64 `json:"migrate_to_chat_id"`
	} `json:"parameters"`
}

// errTooLarge is the cause where an answer is longer than its bound.
var errTooLarge = errors.New("the answer is too large")

// errNoResult is the cause where an answer says that all is well, and nothing else.
var errNoResult = errors.New("the answer has no result")

// readBounded reads at most limit bytes. What was read is returned with the error, too: a cut answer may still say
// that a message was sent.
func readBounded(body io.Reader, limit int64) ([]byte, error) {
	read, err := io.ReadAll(io.LimitReader(body, limit+1))
	if err != nil {
		return read, fmt.Errorf("read the answer: %w", err)
	}
	if int64(len(read)) > limit {
		return read[:limit], fmt.Errorf("%w (over %d bytes)", errTooLarge, limit)
	}
	return read, nil
}

// sentResult reports whether an answer, whole or cut anywhere, says that a message was sent, and reads the message's
// id and date as far as they are there. What a decoder of the whole refuses is read token by token.
func sentResult(body []byte) (sent Sent, ok bool) {
	var whole struct {
		OK     bool `json:"ok"`
		Result Sent `json:"result"`
	}
	if json.Unmarshal(body, &whole) == nil && whole.OK && whole.Result.MessageID != 0 {
		return whole.Result, true
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	if !opens(dec) {
		return sent, false
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return sent, ok
		}
		switch key {
		case "ok":
			value, _ := dec.Token()
			ok = value == true
		case "result":
			// The result comes after ok, and last: what follows a cut in it cannot be read.
			if !readSent(dec, &sent) {
				return sent, ok
			}
		default:
			var skipped json.RawMessage
			if dec.Decode(&skipped) != nil {
				return sent, ok
			}
		}
	}
	return sent, ok
}

// readSent reads the message object that comes next, up to where it can be read, and reports whether it came to its end.
func readSent(dec *json.Decoder, sent *Sent) bool {
	if !opens(dec) {
		return false
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return false
		}
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			return false
		}
		switch key {
		case "message_id":
			_ = json.Unmarshal(value, &sent.MessageID) // an odd id stays 0: sent, but unknown to us
		case "date":
			_ = json.Unmarshal(value, &sent.Date)
		}
	}
	_, err := dec.Token()
	return err == nil
}

// opens reports whether an object begins here.
func opens(dec *json.Decoder) bool {
	token, err := dec.Token()
	return err == nil && token == json.Delim('{')
}
