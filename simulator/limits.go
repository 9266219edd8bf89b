package simulator

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Limits say how fast a bot may send and edit; both share them, as on the real server.
// Zero fields are no limit.
type Limits struct {
	// ChatPerSecond messages go to one chat each second, after a burst of ChatBurst.
	ChatPerSecond float64
	ChatBurst     int
	// GroupPerMinute messages go to one group in any minute.
	GroupPerMinute int
	// PerSecond messages go out in any second.
	PerSecond int
}

// TelegramLimits are those that Telegram names: 1 message a second to a chat, with short
// bursts, 20 a minute to a group, 30 a second in all.
func TelegramLimits() *Limits {
	return &Limits{ChatPerSecond: 1, ChatBurst: 3, GroupPerMinute: 20, PerSecond: 30}
}

// budget counts what was sent. The server's mutex guards it.
type budget struct {
	shut  time.Time             // until when nothing may be sent
	total []time.Time           // of the last second
	group map[int64][]time.Time // of the last minute, by chat
	chat  map[int64]bucket
}

// A bucket holds what a chat may still take.
type bucket struct {
	tokens float64
	at     time.Time
}

// spend takes one message off the limits, or says how long to wait. The caller holds mu.
func (s *Server) spend(c *call) error {
	if !strings.HasPrefix(c.name, "send") && !strings.HasPrefix(c.name, "edit") || c.name == "sendChatAction" {
		return nil
	}
	l := s.options.Limits
	if l == nil {
		l = &Limits{}
	}
	id := c.int("chat_id", 0)
	wait := max(s.budget.shut.Sub(c.at), s.budget.waitTotal(l, c.at), s.budget.waitGroup(l, id, c.at), s.budget.waitChat(l, id, c.at))
	if wait > 0 {
		seconds := int(math.Ceil(wait.Seconds()))
		return &APIError{
			Code: 429, Description: "Too Many Requests: retry after " + strconv.Itoa(seconds),
			Parameters: &Parameters{RetryAfter: seconds}, Class: Limited,
		}
	}
	if s.options.Limits != nil {
		s.budget.take(l, id, c.at)
	}
	return nil
}

// Shut answers everything that is sent or edited until a moment as being too much, and
// says how long to wait for that moment, as the real server does to a bot that overdid it.
func (s *Server) Shut(until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.budget.shut = until
}

// waitWindow returns how long until there is room for one more in a window.
func waitWindow(sent []time.Time, limit int, window time.Duration, now time.Time) time.Duration {
	if limit <= 0 || len(sent) < limit {
		return 0
	}
	return sent[len(sent)-limit].Add(window).Sub(now)
}

func (b *budget) waitTotal(l *Limits, now time.Time) time.Duration {
	return waitWindow(b.total, l.PerSecond, time.Second, now)
}

func (b *budget) waitGroup(l *Limits, chat int64, now time.Time) time.Duration {
	return waitWindow(b.group[chat], l.GroupPerMinute, time.Minute, now)
}

func (b *budget) waitChat(l *Limits, chat int64, now time.Time) time.Duration {
	tokens := b.tokens(l, chat, now)
	if l.ChatPerSecond <= 0 || tokens >= 1 {
		return 0
	}
	return time.Duration((1 - tokens) / l.ChatPerSecond * float64(time.Second))
}

func (b *budget) tokens(l *Limits, chat int64, now time.Time) float64 {
	full := float64(max(l.ChatBurst, 1))
	old, ok := b.chat[chat]
	if !ok {
		return full
	}
	return min(full, old.tokens+now.Sub(old.at).Seconds()*l.ChatPerSecond)
}

func (b *budget) take(l *Limits, chat int64, now time.Time) {
	if b.chat == nil {
		b.chat, b.group = map[int64]bucket{}, map[int64][]time.Time{}
	}
	b.chat[chat] = bucket{b.tokens(l, chat, now) - 1, now}
	b.total = keepRecent(append(b.total, now), l.PerSecond)
	if chat < 0 { // groups and channels
		b.group[chat] = keepRecent(append(b.group[chat], now), l.GroupPerMinute)
	}
}

// keepRecent forgets what a window of this limit no longer looks at.
func keepRecent(sent []time.Time, limit int) []time.Time {
	return sent[max(0, len(sent)-max(limit, 1)):]
}
