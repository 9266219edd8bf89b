package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"countersign/config"
)

// cli is the command line.
type cli struct {
	Config string `help:"The configuration file; else COUNTERSIGN_CONFIG." placeholder:"FILE"`

	Run     runCmd     `cmd:"" help:"Run the bot."`
	Demo    demoCmd    `cmd:"" help:"Try everything in the browser: no token, no account, no network."`
	DemoBot demoBotCmd `cmd:"" hidden:"" help:"The bot of a demo, which starts it."`
	Conf    configCmd  `cmd:"" name:"config" help:"Check a configuration, or print the commented example."`
	Init    initCmd    `cmd:"" help:"Be guided to a configuration."`
	Doctor  doctorCmd  `cmd:"" help:"Examine what the bot stands on: its token, chats, people and Redis."`
	Health  healthCmd  `cmd:"" help:"Ask the bot on this machine how it is."`
	Policy  policyCmd  `cmd:"" help:"Ask the policies about a request."`
	Version versionCmd `cmd:"" help:"Print the version."`

	Request  requestCmd  `cmd:"" help:"Publish a request for approval."`
	Pending  pendingCmd  `cmd:"" help:"List what is open."`
	Show     showCmd     `cmd:"" help:"Show one approval."`
	Answer   answerCmd   `cmd:"" help:"Approve or reject as the operator."`
	Withdraw withdrawCmd `cmd:"" help:"Say that a request is no longer asked."`
	Claim    claimCmd    `cmd:"" help:"Claim an approved call before running it."`
	Report   reportCmd   `cmd:"" help:"Say what happened to an approved call."`

	Keygen keygenCmd `cmd:"" help:"Make a key that signs answers."`
	Verify verifyCmd `cmd:"" help:"Check the signature of an answer."`
	Audit  auditCmd  `cmd:"" help:"Check or print the audit of all transitions."`
	Forget forgetCmd `cmd:"" help:"Take an answered approval's text away."`

	Hook hookCmd `cmd:"" help:"Decide on the tool calls of a coding agent."`
	MCP  mcpCmd  `cmd:"" name:"mcp" set:"runtime=mcp" help:"Serve a coding agent as an MCP server, on standard input and output."`
}

// A shell is what commands run in.
type shell struct {
	world
	ctx    context.Context
	config string // path of the configuration, "" for none
}

// A failure ends the program with a code; its text is for the operator.
type failure struct {
	code int
	err  error
}

func (f *failure) Error() string { return f.err.Error() }

func (f *failure) Unwrap() error { return f.err }

func fail(code int, format string, args ...any) error {
	return &failure{code: code, err: fmt.Errorf(format, args...)}
}

// run runs the program and returns its exit code.
func run(ctx context.Context, w world) int {
	var c cli
	exited := -1
	parser, err := kong.New(&c,
		kong.Name("countersign"), kong.Description("Approve, call by call, what agents want to do."),
		kong.Writers(w.stdout, w.stderr), kong.Exit(func(code int) { exited = code }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}))
	if err != nil {
		panic("unreachable unless bug in this package: " + err.Error())
	}
	command, err := parser.Parse(w.args)
	if exited >= 0 {
		return exited
	}
	if err != nil {
		fmt.Fprintf(w.stderr, "countersign: %v\nSee countersign --help.\n", misused(err))
		return exitUsage
	}
	if c.Config == "" {
		c.Config = lookup(w.environ, "COUNTERSIGN_CONFIG")
	}
	err = command.Run(&shell{world: w, ctx: ctx, config: c.Config})
	if err == nil {
		return exitDone
	}
	code := exitNotDone
	var f *failure
	if errors.As(err, &f) {
		code = f.code
	}
	if text := err.Error(); text != "" {
		fmt.Fprintf(w.stderr, "countersign: %s\n", text)
	}
	return code
}

// lookup finds a variable in an environment.
func lookup(environ []string, name string) string {
	for _, e := range environ {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			return v
		}
	}
	return ""
}

// load reads the configuration.
func (s *shell) load() (config.Config, error) {
	cfg, err := config.Load(s.config, s.environ, os.ReadFile)
	if err != nil {
		return cfg, &failure{code: exitUsage, err: err}
	}
	return cfg, nil
}

// readFile reads a file, or standard input for "-".
func (s *shell) readFile(name string) ([]byte, error) {
	var data []byte
	var err error
	if name == "-" {
		data, err = io.ReadAll(s.stdin)
	} else {
		data, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, &failure{code: exitUsage, err: err}
	}
	return data, nil
}

// A target says which queue a command speaks to: by the configuration, or by
// address alone.
type target struct {
	Redis     string `help:"Redis address, instead of a configuration; without one also COUNTERSIGN_REDIS_URL, which no list of processes shows." placeholder:"URL"`
	Namespace string `help:"Namespace of the queue, with an address alone; else COUNTERSIGN_REDIS_NAMESPACE, else approvals." placeholder:"NS"`

	configured bool // by a configuration and nothing else
}

// settle takes what the command line does not say from the environment, where there
// is no configuration that would.
func (t *target) settle(s *shell) {
	if t.Redis == "" && s.config == "" && !t.configured {
		t.Redis = lookup(s.environ, "COUNTERSIGN_REDIS_URL")
	}
	if t.Namespace == "" {
		t.Namespace = cmp.Or(lookup(s.environ, "COUNTERSIGN_REDIS_NAMESPACE"), "approvals")
	}
}

var namespaceForm = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

// connect makes a client of the queue, and does not touch Redis yet. The caller
// closes it.
func (t *target) connect(s *shell) (redis.UniversalClient, config.Config, error) {
	t.settle(s)
	cfg := config.Default()
	if t.Redis != "" {
		if len(t.Namespace) > 64 || !namespaceForm.MatchString(t.Namespace) {
			return nil, cfg, fail(exitUsage, "--namespace: want 1 to 64 of A-Z a-z 0-9 . _ -")
		}
		cfg.Redis.URL, cfg.Redis.Namespace = config.NewRedisURL(t.Redis), t.Namespace
	} else {
		if s.config == "" && !t.configured {
			return nil, cfg, fail(exitUsage, "no queue is named: give COUNTERSIGN_REDIS_URL or --redis URL, or --config FILE where you have the bot's configuration")
		}
		var err error
		if cfg, err = s.load(); err != nil {
			return nil, cfg, err
		}
	}
	rdb, err := dial(cfg, 0, once)
	if err != nil {
		return nil, cfg, &failure{code: exitUsage, err: err}
	}
	return rdb, cfg, nil
}

// open connects to the queue. The caller closes the connection.
func (t *target) open(s *shell) (redis.UniversalClient, config.Config, error) {
	rdb, cfg, err := t.connect(s)
	if err != nil {
		return nil, cfg, err
	}
	if err := rdb.Ping(s.ctx).Err(); err != nil {
		_ = rdb.Close()
		return nil, cfg, fail(exitUnavailable, "Redis at %s: %w%s", cfg.Redis.URL, err, behind("; ", tlsRemedy(err)))
	}
	return rdb, cfg, nil
}

// poolSize is how many connections a process may hold: many approvals are read
// at once.
const poolSize = 64

// What is kept for every connection to write into and read from, in bytes: a reading
// or a request fits in, as most are. What is longer goes in pieces. A connection for
// batches has more.
const (
	bufferSize = 16 << 10
	batchSize  = 32 << 10
)

// dial makes a Redis client with room for some reads that block. It connects
// when it is used.
func dial(cfg config.Config, blocking int, change ...func(*redis.Options)) (redis.UniversalClient, error) {
	o, err := redis.ParseURL(cfg.Redis.URL.Reveal())
	if err != nil {
		// The parser's words may repeat a part of the address, and so the password.
		return nil, errors.New("redis.url: want redis://[user:password@]host:port/db, or rediss:// for TLS")
	}
	if err := secure(o, cfg.Redis); err != nil {
		return nil, err
	}
	o.ContextTimeoutEnabled = true
	o.PoolSize = max(o.PoolSize, poolSize) + blocking
	o.ReadBufferSize, o.WriteBufferSize = cmp.Or(o.ReadBufferSize, bufferSize), cmp.Or(o.WriteBufferSize, bufferSize)
	o.PipelineReadBufferSize, o.PipelineWriteBufferSize = cmp.Or(o.PipelineReadBufferSize, batchSize), cmp.Or(o.PipelineWriteBufferSize, batchSize)
	// Maintenance notices are a hosted service's; asking for them only makes noise elsewhere.
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	for _, c := range change {
		c(o)
	}
	if cfg.Redis.Cluster {
		return redis.NewClusterClient(&redis.ClusterOptions{
			Addrs: []string{o.Addr}, Username: o.Username, Password: o.Password, TLSConfig: o.TLSConfig,
			ContextTimeoutEnabled: true, PoolSize: o.PoolSize, MaxRetries: o.MaxRetries,
			DialTimeout: o.DialTimeout, ReadTimeout: o.ReadTimeout, WriteTimeout: o.WriteTimeout, DialerRetries: o.DialerRetries,
			ReadBufferSize: o.ReadBufferSize, WriteBufferSize: o.WriteBufferSize,
			PipelineReadBufferSize: o.PipelineReadBufferSize, PipelineWriteBufferSize: o.PipelineWriteBufferSize,
			MaintNotificationsConfig: o.MaintNotificationsConfig,
		}), nil
	}
	return redis.NewClient(o), nil
}

// once keeps a client from sending a command twice: a claim whose reply was lost
// must not be taken for somebody else's.
func once(o *redis.Options) { o.MaxRetries = -1 }
