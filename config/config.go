package config

import "time"

// Config is the whole configuration. Build one with [Load], [Parse], or from
// [Default] in code, followed by [Config.Validate].
type Config struct {
	Telegram  Telegram      `yaml:"telegram"`
	Redis     Redis         `yaml:"redis"`
	People    []Person      `yaml:"people"`
	Routes    []RouteRule   `yaml:"routes"` // the first match wins
	Confirm   Confirm       `yaml:"confirm"`
	Replies   Replies       `yaml:"replies"`
	Expiry    Expiry        `yaml:"expiry"`
	Sweep     Sweep         `yaml:"sweep"`
	Policies  []Policy      `yaml:"policies"`  // the first match wins; none: ask
	Redact    Switch        `yaml:"redact"`    // mask what looks like a secret on cards and files
	Timezone  string        `yaml:"timezone"`  // IANA name, for text that cannot follow the reader's zone
	Retention time.Duration `yaml:"retention"` // how long a finished approval is kept; ≥ Expiry.Max + 48h
	HTTP      HTTP          `yaml:"http"`
	Audit     Audit         `yaml:"audit"`
	Log       Log           `yaml:"log"`
}

// Telegram says how the Bot API is reached.
type Telegram struct {
	Token     Secret  `yaml:"token"`
	TokenFile string  `yaml:"token_file"`
	APIURL    string  `yaml:"api_url"` // absolute http or https URL, without the token
	Mode      string  `yaml:"mode"`    // ModePolling or ModeWebhook
	Webhook   Webhook `yaml:"webhook"`
	Limits    Limits  `yaml:"limits"`
}

// The ways in which updates arrive.
const (
	ModePolling = "polling"
	ModeWebhook = "webhook"
)

// Webhook matters where [Telegram].Mode is [ModeWebhook]. Without a secret one is
// derived; see [Telegram.WebhookSecret]. Without TLS files plain HTTP is served.
type Webhook struct {
	PublicURL   string `yaml:"public_url"`
	Listen      string `yaml:"listen"` // host:port
	Secret      Secret `yaml:"secret"` // 1–256 of A-Za-z0-9_-
	SecretFile  string `yaml:"secret_file"`
	TLSCertFile string `yaml:"tls_cert_file"` // both TLS files, or neither
	TLSKeyFile  string `yaml:"tls_key_file"`
}

// Limits bound what is sent, sends and edits together. 0 is no limit.
type Limits struct {
	PerSecond      float64 `yaml:"per_second"`
	ChatPerSecond  float64 `yaml:"chat_per_second"`
	GroupPerMinute float64 `yaml:"group_per_minute"`
}

// Redis says where the queue lives.
type Redis struct {
	URL         RedisURL `yaml:"url"`
	URLFile     string   `yaml:"url_file"`
	TLSCAFile   string   `yaml:"tls_ca_file"`   // whom to believe; none: whom the system believes
	TLSCertFile string   `yaml:"tls_cert_file"` // the bot's own; both TLS files, or neither
	TLSKeyFile  string   `yaml:"tls_key_file"`
	Cluster     bool     `yaml:"cluster"`
	Namespace   string   `yaml:"namespace"` // 1–64 of A-Za-z0-9._-
	Streams     []Stream `yaml:"streams"`   // as configured; [Config.Streams] knows the default
}

// Stream is one inbound stream and who may ask by it.
type Stream struct {
	Key      string   `yaml:"key"`
	Runtimes []string `yaml:"runtimes"` // patterns, see [Glob]
	IDs      string   `yaml:"ids"`      // the pattern that approval ids must fit
}

// Person is somebody the bot knows.
type Person struct {
	ID   int64  `yaml:"id" want:"the numeric Telegram user id; a username can pass to somebody else (/start shows the id)"`
	Name string `yaml:"name"`
	Role string `yaml:"role"` // RoleOwner or RoleReader
}

// What a person may do.
const (
	RoleOwner  = "owner"  // may answer
	RoleReader = "reader" // may only look
)

// Match narrows a route or a policy. An empty field fits anything.
type Match struct {
	Runtime string `yaml:"runtime"` // pattern, see [Glob]
	Tool    string `yaml:"tool"`    // pattern; of several calls all must fit
	Kind    string `yaml:"kind"`    // KindToolCall or KindHalt
	Tier    string `yaml:"tier"`    // observe, act, outreach or destroy; routes only
}

// The kinds of request.
const (
	KindToolCall = "tool_call"
	KindHalt     = "halt"
)

// RouteRule says where matching requests are asked, and who answers.
// [Config.Route] resolves it.
type RouteRule struct {
	Match  Match   `yaml:"match"`
	Chats  []Chat  `yaml:"chats"` // empty: what matches is refused as unroutable
	Owners []int64 `yaml:"owners" want:"the numeric Telegram user id of an owner in people"`
	Quorum int     `yaml:"quorum"` // different owners who must approve, ≥ 1
}

// Chat is a place for cards.
type Chat struct {
	ID     int64 `yaml:"id" want:"the numeric chat id: a user's id for a direct chat, a negative number for a group"`
	Thread int   `yaml:"thread"` // topic of a forum; 0: none
}

// Confirm shapes the confirm step.
type Confirm struct {
	Window time.Duration `yaml:"window"` // how long a step stays open, ≤ 10m
	Dwell  time.Duration `yaml:"dwell"`  // how long a question must have been shown before Yes counts
	Halts  string        `yaml:"halts"`  // HaltsOneTap or HaltsTwoStep
	Unseen string        `yaml:"unseen"` // UnseenWarn or UnseenRefuse
}

// How halts are approved, and what happens to a Yes over lines that were not shown.
const (
	HaltsOneTap  = "one_tap"
	HaltsTwoStep = "two_step"
	UnseenWarn   = "warn"
	UnseenRefuse = "refuse"
)

// Replies are the words that open a confirm step or reject, single words, any case.
type Replies struct {
	Approve []string `yaml:"approve"`
	Reject  []string `yaml:"reject"`
}

// Expiry holds the times to answer; all are above 0 and at most Max.
type Expiry struct {
	ToolCall time.Duration `yaml:"tool_call"` // default for a tool call
	Halt     time.Duration `yaml:"halt"`      // default for a halt
	Max      time.Duration `yaml:"max"`       // the most a request may ask for
	Remind   time.Duration `yaml:"remind"`    // how long before the deadline one reminder is sent
}

// Sweep says when deadlines are looked at.
type Sweep struct {
	Schedule string `yaml:"schedule"` // see [ParseSchedule]
}

// Policy lets calls through without a card. How it is applied is decided elsewhere.
type Policy struct {
	Match                  Match               `yaml:"match"`                  // without Tier
	RequireApprovalTools   []string            `yaml:"require_approval_tools"` // exact names
	AutoApproveTools       []string            `yaml:"auto_approve_tools"`     // exact names
	AutoApproveMaxRiskRank int                 `yaml:"auto_approve_max_risk_rank"`
	Tools                  map[string]ToolFact `yaml:"tools"` // by exact tool name
	OperatorEmail          string              `yaml:"operator_email"`
	EmailAllowedRecipients []string            `yaml:"email_allowed_recipients"`
	Notify                 string              `yaml:"notify"` // NotifySilent or NotifyNone
}

// ToolFact holds what the operator says of one tool.
type ToolFact struct {
	Facts map[string]bool `yaml:"facts"`
}

// What an automatic approval shows.
const (
	NotifySilent = "silent" // a finished card without sound
	NotifyNone   = "none"
)

// HTTP is the address of /healthz, /readyz and /metrics.
type HTTP struct {
	Listen string `yaml:"listen"` // host:port
}

// Audit holds the keys that sign answers: Ed25519, PKCS#8 PEM; the first one signs.
type Audit struct {
	SigningKey     Secret `yaml:"signing_key"`
	SigningKeyFile string `yaml:"signing_key_file"`
}

// Log says what is logged, and how.
type Log struct {
	Level  string `yaml:"level"`  // trace, debug, info, warn or error
	Format string `yaml:"format"` // FormatJSON or FormatConsole
}

// The log formats.
const (
	FormatJSON    = "json"
	FormatConsole = "console"
)

// Switch is a boolean that is written on or off; true and false are understood too.
type Switch bool

// Default returns the configuration that an empty file gives. It lacks what has no
// default: a token, and people.
func Default() Config {
	return Config{
		Telegram: Telegram{
			APIURL:  "https://api.telegram.org",
			Mode:    ModePolling,
			Webhook: Webhook{Listen: "127.0.0.1:8443"},
			Limits:  Limits{PerSecond: 30, ChatPerSecond: 1, GroupPerMinute: 20},
		},
		Redis: Redis{
			URL:       NewRedisURL("redis://127.0.0.1:6379/0"),
			Namespace: "approvals",
		},
		Confirm:   Confirm{Window: time.Minute, Dwell: 400 * time.Millisecond, Halts: HaltsOneTap, Unseen: UnseenWarn},
		Replies:   Replies{Approve: []string{"approve"}, Reject: []string{"reject", "deny"}},
		Expiry:    Expiry{ToolCall: time.Hour, Halt: 10 * time.Minute, Max: 168 * time.Hour, Remind: 10 * time.Minute},
		Sweep:     Sweep{Schedule: "@every 5s"},
		Redact:    true,
		Timezone:  "UTC",
		Retention: 720 * time.Hour,
		HTTP:      HTTP{Listen: "127.0.0.1:9464"},
		Log:       Log{Level: "info", Format: FormatJSON},
	}
}
