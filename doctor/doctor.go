// Package doctor examines what a bot stands on: its secrets, Redis, Telegram, the
// chats and the people of a configuration.
//
// # What it promises
//
// [Examine] tells one [Finding] after the other. Each is good, a warning or a fault, and
// what is not good names its remedy. A fault is what keeps a request from being asked,
// an answer from being kept, or the bot from running. What could not be found out is a
// warning and never good.
//
// # What it leaves alone
//
// It writes nothing to Redis: no lease is taken and no script of the bot is run. At
// Telegram it confirms no update and changes no setting. Two things can be noticed:
//
//   - In each chat the bot is shown as typing for a moment. Only that tells whether it
//     may write there.
//   - Where no bot serves the queue it polls once, for at most [PollFor], to see whether
//     something else takes the bot's updates. That something is told so by one error
//     (409) and goes on. Where a bot does serve the queue, it is asked instead.
package doctor

import (
	"context"
	"time"

	"countersign/config"
	"countersign/store"
	"countersign/telegram"
)

// A Level says how bad a finding is.
type Level string

// The levels.
const (
	Good    Level = "ok"
	Warning Level = "warning"
	Fault   Level = "fault"
)

// A Finding is what one look came to: a line for an operator. It holds no secret.
type Finding struct {
	Check  string `json:"check"` // what was looked at, one of the names below
	Level  Level  `json:"level"`
	What   string `json:"what"`
	Remedy string `json:"remedy,omitempty"` // empty only where the level is Good
}

// The names of the checks. They are stable.
const (
	CheckConfiguration = "configuration"
	CheckSecrets       = "secrets"
	CheckRedis         = "redis" // reached, version, role
	CheckPersistence   = "persistence"
	CheckEviction      = "eviction"
	CheckRights        = "rights"
	CheckClock         = "clock"
	CheckStream        = "stream"
	CheckBot           = "bot" // whether one serves the queue, and what it says of itself
	CheckToken         = "token"
	CheckWebhook       = "webhook"
	CheckUpdates       = "updates" // which kinds Telegram delivers
	CheckPoller        = "poller"  // whether something else polls
	CheckPrivacy       = "privacy"
	CheckOwner         = "owner"
	CheckChat          = "chat"
)

// Telegram is what is asked of the Bot API. A [telegram.Client] is one.
type Telegram interface {
	Me(ctx context.Context) (telegram.Me, error)
	WebhookInfo(ctx context.Context) (telegram.WebhookInfo, error)
	Peek(ctx context.Context, timeout time.Duration, limit int) ([]telegram.RawUpdate, error)
	Reach(ctx context.Context, chat int64) error
	Chat(ctx context.Context, id int64) (telegram.ChatInfo, error)
	Member(ctx context.Context, chat, user int64) (telegram.Member, error)
}

// Store is what is asked of Redis. A [store.Store] is one.
type Store interface {
	Server(ctx context.Context) (store.Server, error)
	Rights(ctx context.Context, streams []string) (store.Rights, error)
	Now(ctx context.Context) (time.Time, error)
	Newest(ctx context.Context, stream string) (at time.Time, full bool, err error)
	Presence(ctx context.Context) (store.Presence, error)
	Setting(ctx context.Context, name string) (string, error)
}

// A File is one that holds, or may hold, a secret.
type File struct {
	Key   string // of the configuration, "" for the configuration itself
	Path  string
	World bool // everybody on the machine may read it
}

// A Patient is what is examined.
type Patient struct {
	Config   *config.Config
	Files    []File
	Store    Store
	Telegram Telegram
	// Ready asks the bot on this machine how it is: its own words, and whether it is
	// ready. An error means that none could be asked. Nil: none is asked.
	Ready func(ctx context.Context) (words string, ready bool, err error)
	Now   func() time.Time
	// HookSetting names the setting under which the bot keeps the webhooks that are its own.
	HookSetting string
}

// Examine looks at everything, in an order in which causes come before consequences,
// and tells what it finds. Where ctx ends it stops.
func Examine(ctx context.Context, p Patient, tell func(Finding)) {
	e := &examination{Patient: p, tell: tell}
	for _, look := range []func(context.Context){
		e.secrets, e.redis, e.rights, e.clock, e.streams, e.bot,
		e.token, e.webhook, e.updates, e.poller, e.privacy, e.people, e.chats,
	} {
		if ctx.Err() != nil {
			return
		}
		look(ctx)
	}
}

// An examination is the state of one [Examine].
type examination struct {
	Patient
	tell func(Finding)

	redisUp  bool                  // Redis answers
	present  *store.Presence       // nil: not known
	me       *telegram.Me          // nil: Telegram does not answer, or not to this token
	hook     *telegram.WebhookInfo // nil: not known
	hookOurs bool                  // the webhook that is set is the bot's own, or none is
}

func (e *examination) good(check, what string) { e.tell(Finding{check, Good, what, ""}) }

func (e *examination) warn(check, what, remedy string) {
	e.tell(Finding{check, Warning, what, remedy})
}

func (e *examination) fault(check, what, remedy string) {
	e.tell(Finding{check, Fault, what, remedy})
}

// secrets looks at who may read them. That they are there is known: the configuration
// was loaded.
func (e *examination) secrets(context.Context) {
	open := false
	for _, f := range e.Files {
		if !f.World {
			continue
		}
		open = true
		name := f.Key
		if name == "" {
			name = "the configuration, which holds a secret,"
		}
		e.warn(CheckSecrets, name+" is "+f.Path+", which everybody on this machine can read", "chmod 600 "+f.Path)
	}
	if !open {
		e.good(CheckSecrets, "nobody else on this machine can read them")
	}
}
