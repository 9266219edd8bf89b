package delivery

import (
	"context"
	"errors"
	"time"

	"github.com/rs/zerolog"

	"countersign/telegram"
)

// A Talker is what a Speaker needs of Telegram.
type Talker interface {
	Send(ctx context.Context, m telegram.Outgoing) (telegram.Sent, error)
	SendDocument(ctx context.Context, d telegram.Document) (telegram.Sent, error)
	AnswerCallback(ctx context.Context, id, text string, alert bool) error
}

// A Speaker says what is no card: answers to taps, questions, help, files. Any
// process may, whether it leads or not. What waits for its turn for more than a
// minute is dropped, with [ErrTooLate].
type Speaker struct {
	bot  Talker
	pace *Pace
	log  zerolog.Logger
}

// NewSpeaker returns a Speaker that shares the limits of pace.
func NewSpeaker(bot Talker, pace *Pace, log zerolog.Logger) *Speaker {
	return &Speaker{bot: bot, pace: pace, log: log}
}

// sayTries and sayWithin bound how often words are tried, and how long they wait
// in all: they grow old quickly, and in a flood those who wait are many.
const (
	sayTries  = 3
	sayWithin = time.Minute
)

// ErrTooLate is the error of words that waited for their turn for so long that
// nobody waits for them any more. They were dropped.
var ErrTooLate = errors.New("it waited for its turn for a minute, and was dropped")

// Answer answers a tap, at once. A failure changes nothing that was decided.
func (s *Speaker) Answer(ctx context.Context, callback, text string, alert bool) {
	s.pace.Spend()
	err := s.bot.AnswerCallback(ctx, callback, text, alert)
	if err != nil && kindOf(err) != telegram.QueryTooOld && ctx.Err() == nil {
		s.log.Warn().Err(err).Msg("a tap was not answered")
	}
}

// Say sends a message, within the limits, after everything that matters more.
func (s *Speaker) Say(ctx context.Context, m telegram.Outgoing) (telegram.Sent, error) {
	return s.say(ctx, Word, m)
}

// Ask sends a question that somebody waits for, before other messages.
func (s *Speaker) Ask(ctx context.Context, m telegram.Outgoing) (telegram.Sent, error) {
	return s.say(ctx, StepEdit, m)
}

func (s *Speaker) say(ctx context.Context, class Class, m telegram.Outgoing) (telegram.Sent, error) {
	at := &spot{chat: m.Chat, thread: m.Thread, reply: m.ReplyTo}
	return s.try(ctx, class, at, func() (telegram.Sent, error) {
		m.Chat, m.Thread, m.ReplyTo = at.chat, at.thread, at.reply
		sent, err := s.bot.Send(ctx, m)
		if refusedFormat(err) != nil && !m.PlainOnly {
			s.pace.Charge(m.Chat)
			m.PlainOnly = true
			sent, err = s.bot.Send(ctx, m)
		}
		return sent, err
	})
}

// File sends a file, within the limits.
func (s *Speaker) File(ctx context.Context, d telegram.Document) (telegram.Sent, error) {
	at := &spot{chat: d.Chat, thread: d.Thread, reply: d.ReplyTo}
	return s.try(ctx, Word, at, func() (telegram.Sent, error) {
		d.Chat, d.Thread, d.ReplyTo = at.chat, at.thread, at.reply
		return s.bot.SendDocument(ctx, d)
	})
}

// A spot is where something is said.
type spot struct {
	chat          int64
	thread, reply int
	moved         bool
}

// elsewhere is where the same can be said where this spot is gone: without the
// reply, in the main chat, in the supergroup that the group became. It reports
// false where there is no such place.
func (at *spot) elsewhere(err error) bool {
	var e *telegram.Error
	if !errors.As(err, &e) {
		return false
	}
	switch {
	case e.Kind == telegram.ReplyGone && at.reply != 0:
		at.reply = 0
	case e.Kind == telegram.ThreadGone && at.thread != 0:
		at.thread = 0
	case e.Kind == telegram.Migrated && !at.moved && at.chat < 0 && e.MigrateTo < 0:
		*at = spot{chat: e.MigrateTo, moved: true}
	default:
		return false
	}
	return true
}

// try sends until it is taken. What was said in another chat than it was meant
// for has no number there that its sender could know, so none is returned.
func (s *Speaker) try(ctx context.Context, class Class, at *spot, send func() (telegram.Sent, error)) (telegram.Sent, error) {
	waiting, cancel := context.WithTimeoutCause(ctx, sayWithin, ErrTooLate)
	defer cancel()
	var sent telegram.Sent
	var err error
	for try := 0; try < sayTries; try++ {
		if _, werr := s.pace.Wait(waiting, class, at.chat); werr != nil {
			return sent, werr
		}
		if sent, err = send(); err == nil {
			if at.moved {
				sent.MessageID = 0
			}
			return sent, nil
		}
		if at.elsewhere(err) {
			try-- // each only once
			continue
		}
		switch kindOf(err) {
		case telegram.TooMany:
			s.pace.Hold(at.chat, retryAfter(err))
		case telegram.Server, telegram.Transport:
			if try == sayTries-1 || !pauseFor(waiting, time.Duration(try+1)*time.Second) {
				return sent, err
			}
		default:
			return sent, err
		}
	}
	return sent, err
}

// kindOf is what can be done about a failed call.
func kindOf(err error) telegram.Kind {
	var e *telegram.Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return telegram.Transport
}

// described are Telegram's words for a failure.
func described(err error) string {
	var e *telegram.Error
	if errors.As(err, &e) {
		return e.Description
	}
	return ""
}

func retryAfter(err error) time.Duration {
	var e *telegram.Error
	if errors.As(err, &e) {
		return e.RetryAfter
	}
	return 0
}
