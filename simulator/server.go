package simulator

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"countersign/simulator/spec"
)

// Defaults of [Options].
const (
	DefaultToken        = "4242:simulated-token-of-the-local-bot"
	DefaultUsername     = "countersign_bot"
	DefaultName         = "Countersign"
	DefaultAnswerWithin = 15 * time.Second
	defaultLogLimit     = 20_000
)

// Options make a [Server]. Only Now is required.
type Options struct {
	// Now is the clock of dates, lifetimes and limits.
	Now func() time.Time
	// Token is the bot's token, digits:letters. The digits are the bot's user id.
	Token string
	// Username and Name are the bot's.
	Username, Name string
	// ReadsGroups turns privacy mode off: the bot gets every message of its groups.
	ReadsGroups bool
	// FirstUpdateID is the id of the first update; the next ones rise by 1. Default 1.
	FirstUpdateID int64
	// AnswerWithin is how long after a tap it can be answered. Default 15 s.
	AnswerWithin time.Duration
	// Limits are enforced if given.
	Limits *Limits
	// NoTgTime makes the server refuse the tag tg-time, like one older than Bot API 9.5.
	NoTgTime bool
	// WebhookClient delivers webhooks. Default: a client that follows no redirects.
	WebhookClient *http.Client
	// LogLimit is how many calls the log keeps. Default 20,000.
	LogLimit int
}

// A Server is a Bot API server and the people around it. Make it with [New].
type Server struct {
	options Options
	api     *spec.API
	errs    catalogue
	methods map[string]handler
	ctx     context.Context // ends with Close
	cancel  context.CancelFunc
	running sync.WaitGroup // goroutines of webhooks and of Start

	mu      sync.Mutex // guards everything below
	bot     *bot
	users   map[int64]*user
	chats   map[int64]*chat // groups and channels; private chats too
	files   map[string]*file
	queries map[string]*query
	// manyQueries is how many queries there have to be before old ones are looked for.
	manyQueries int
	lastID      int64 // of files and callback queries
	faults      []*FaultHandle
	log         callLog
	budget      budget
	feed        feed
	listener    []*http.Server
}

// A bot is the account behind a token.
type bot struct {
	User
	token     string
	queue     queue
	webhook   webhook
	loggedOut bool
	commands  map[string][]BotCommand // by scope and language
}

// New makes a server. It panics if Options.Now is nil or the token is malformed, since
// both are mistakes of the program.
func New(options Options) *Server {
	if options.Now == nil {
		panic("simulator: Options.Now is required")
	}
	setDefault(&options.Token, DefaultToken)
	setDefault(&options.Username, DefaultUsername)
	setDefault(&options.Name, DefaultName)
	setDefault(&options.FirstUpdateID, 1)
	setDefault(&options.AnswerWithin, DefaultAnswerWithin)
	setDefault(&options.LogLimit, defaultLogLimit)
	if options.WebhookClient == nil {
		options.WebhookClient = &http.Client{
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	}
	digits, _, _ := strings.Cut(options.Token, ":")
	id, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || !validToken(options.Token) {
		panic("simulator: malformed Options.Token")
	}
	api, errs := loadData()
	ctx, cancel := context.WithCancel(context.Background())
	b := &bot{
		User:     User{ID: id, IsBot: true, FirstName: options.Name, Username: options.Username},
		token:    options.Token,
		queue:    queue{next: options.FirstUpdateID},
		commands: map[string][]BotCommand{},
	}
	return &Server{
		options: options, api: api, errs: errs, methods: methods(), ctx: ctx, cancel: cancel,
		bot:     b,
		users:   map[int64]*user{id: {User: b.User}},
		chats:   map[int64]*chat{},
		files:   map[string]*file{},
		queries: map[string]*query{},
		log:     callLog{limit: options.LogLimit},
		feed:    newFeed(),
	}
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Bot returns the bot's account.
func (s *Server) Bot() User { return s.bot.User }

// Token returns the bot's token.
func (s *Server) Token() string { return s.bot.token }

// Start serves HTTP at the address until Close, and returns the base URL, which a bot
// takes in place of https://api.telegram.org. An empty address means a free port of
// 127.0.0.1.
func (s *Server) Start(address string) (url string, err error) {
	if address == "" {
		address = "127.0.0.1:0"
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return "", fmt.Errorf("start the simulated Bot API: %w", err)
	}
	server := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	s.mu.Lock()
	s.listener = append(s.listener, server)
	s.mu.Unlock()
	s.running.Go(func() { _ = server.Serve(l) }) // returns when Close closes it
	return "http://" + l.Addr().String(), nil
}

// Close ends held polls, webhooks and listeners, and waits for them.
func (s *Server) Close() error {
	s.cancel()
	s.mu.Lock()
	listeners := s.listener
	s.mu.Unlock()
	var errs []error
	for _, l := range listeners {
		errs = append(errs, l.Close())
	}
	s.running.Wait()
	return errors.Join(errs...)
}

// nextID makes ids of files and callback queries. The caller holds mu.
func (s *Server) nextID() int64 {
	s.lastID++
	return s.lastID
}
