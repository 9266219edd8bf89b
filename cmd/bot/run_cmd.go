package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"countersign"
	"countersign/config"
)

type runCmd struct {
	Name string `help:"Name of this instance: stable over restarts, unique among replicas; else the host's name." placeholder:"NAME"`
}

// Run runs the bot.
func (c *runCmd) Run(s *shell) error {
	cfg, err := s.load()
	if err != nil {
		return err
	}
	name := c.Name
	if name == "" {
		if name, err = os.Hostname(); err != nil {
			return fail(exitUsage, "no host name; give one with --name: %w", err)
		}
	}
	return s.serve(s.ctx, cfg, name, s.reload)
}

// serve runs the bot until ctx ends, and prints a line when it is ready. What is to go
// on beside it ends with the program.
func (s *shell) serve(ctx context.Context, cfg config.Config, name string, beside ...func(*App, zerolog.Logger)) error {
	log := logger(s.stderr, cfg.Log)
	app, err := NewApp(cfg, AppOptions{
		Log: log, Now: time.Now, Random: rand.Reader, Jitter: mathrand.Float64, Name: name,
		Ready: func() { fmt.Fprintf(s.stdout, "countersign is ready: namespace %s\n", cfg.Redis.Namespace) },
	})
	if err != nil {
		return &failure{code: exitUsage, err: err}
	}
	for _, b := range beside {
		go b(app, log)
	}
	resting, wake := context.WithCancel(ctx)
	go giveBack(resting)
	err = app.Run(ctx)
	wake()
	log.Info().Msg("stopped")
	if cerr := app.Close(); cerr != nil {
		log.Warn().Err(cerr).Msg("a connection did not close")
	}
	return err
}

// reload reads the configuration again at every SIGHUP.
func (s *shell) reload(app *App, log zerolog.Logger) {
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	defer signal.Stop(hup)
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-hup:
		}
		err := recovered(s.ctx, func(ctx context.Context) error {
			cfg, err := s.load()
			if err != nil {
				return err
			}
			return app.Reload(ctx, cfg)
		})
		if err != nil {
			log.Error().Err(err).Msg("the new configuration is not taken; nothing changed")
			continue
		}
		log.Info().Msg("people, routes, policies and limits were read again")
	}
}

// logger writes as the configuration says.
func logger(w io.Writer, c config.Log) zerolog.Logger {
	level, err := zerolog.ParseLevel(c.Level)
	if err != nil {
		level = zerolog.InfoLevel
	}
	if c.Format == config.FormatConsole {
		w = zerolog.ConsoleWriter{Out: w, TimeFormat: time.DateTime}
	}
	return zerolog.New(w).Level(level).With().Timestamp().Logger()
}

type configCmd struct {
	Check   configCheckCmd   `cmd:"" help:"Validate a configuration."`
	Example configExampleCmd `cmd:"" help:"Print the commented example."`
}

type configCheckCmd struct {
	File string `arg:"" help:"The configuration file."`
}

// Run validates a configuration. Files of secrets need not be there, since it may be
// checked on a machine that has none; it is said which of them this one lacks.
func (c *configCheckCmd) Run(s *shell) error {
	data, err := s.readFile(c.File)
	if err != nil {
		return err
	}
	cfg, err := config.Parse(c.File, data, s.environ)
	if err == nil {
		_, err = signingKeys(cfg)
	}
	if err != nil {
		return &failure{code: exitNotDone, err: err}
	}
	if err := cfg.CheckSecrets(os.ReadFile); err != nil {
		fmt.Fprintf(s.stderr, "The bot will not start on this machine:\n%v\n", err)
		fmt.Fprintf(s.stdout, "%s is good, but for secrets that are not here\n", c.File)
		return nil
	}
	fmt.Fprintf(s.stdout, "%s is good\n", c.File)
	return nil
}

type configExampleCmd struct{}

// Run prints the example.
func (c *configExampleCmd) Run(s *shell) error {
	_, err := s.stdout.Write(countersign.ExampleConfig())
	return err
}

type versionCmd struct{}

// version is set by the linker where a build is told its version.
var version string

// Run prints the version.
func (c *versionCmd) Run(s *shell) error {
	version := cmp.Or(version, "(unknown)")
	if info, ok := debug.ReadBuildInfo(); ok {
		if version == "(unknown)" {
			version = info.Main.Version
		}
		for _, setting := range info.Settings {
			if setting.Key == "vcs.revision" {
				version += " " + setting.Value
			}
		}
	}
	_, err := fmt.Fprintf(s.stdout, "countersign %s\n", version)
	return err
}

// within bounds a command that waits.
func (s *shell) within(d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(s.ctx, d)
}
