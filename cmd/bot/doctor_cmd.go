package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"countersign/config"
	"countersign/doctor"
	"countersign/store"
	"countersign/telegram"
)

type doctorCmd struct {
	JSON bool `help:"Print the findings as JSON."`
}

const (
	// examineFor bounds a whole examination.
	examineFor = 2 * time.Minute
	// examineCallFor bounds one call to Telegram meanwhile.
	examineCallFor = 10 * time.Second
)

// Run examines what the bot stands on, and changes nothing.
func (c *doctorCmd) Run(s *shell) error {
	report := newReport(s, c.JSON)
	cfg, err := s.load()
	if err == nil {
		_, err = signingKeys(cfg)
	}
	if err != nil {
		for line := range strings.Lines(err.Error()) {
			report.tell(doctor.Finding{
				Check: doctor.CheckConfiguration, Level: doctor.Fault, What: strings.TrimSpace(line),
				Remedy: "correct it; countersign config example shows every key",
			})
		}
		return report.end()
	}
	if s.config != "" {
		report.tell(doctor.Finding{Check: doctor.CheckConfiguration, Level: doctor.Good, What: s.config + " is good"})
	}
	ctx, cancel := s.within(examineFor)
	defer cancel()
	if err := s.examine(ctx, cfg, report.tell); err != nil {
		return err
	}
	return report.end()
}

// examine has a configuration examined.
func (s *shell) examine(ctx context.Context, cfg config.Config, tell func(doctor.Finding)) error {
	// A server that is away is a finding, and no reason to try for long.
	rdb, err := dial(cfg, 0, once, hasty)
	if err != nil {
		return &failure{code: exitUsage, err: err}
	}
	defer func() { _ = rdb.Close() }()
	st, err := store.New(rdb, store.Options{Namespace: cfg.Redis.Namespace, Retention: cfg.Retention})
	if err != nil {
		return err
	}
	client, err := telegram.New(telegram.Config{
		Token: cfg.Telegram.Token.Reveal(), APIURL: cfg.Telegram.APIURL, Timeout: examineCallFor,
	})
	if err != nil {
		return &failure{code: exitUsage, err: err}
	}
	doctor.Examine(ctx, doctor.Patient{
		Config: &cfg, Files: s.secretFiles(&cfg), Store: st, Telegram: client, Now: time.Now, HookSetting: hookSetting,
		Ready: func(ctx context.Context) (string, bool, error) {
			ctx, cancel := context.WithTimeout(ctx, askBotFor)
			defer cancel()
			return askBot(ctx, cfg, "/readyz")
		},
	}, tell)
	if ctx.Err() != nil {
		return errors.New("stopped before everything was looked at")
	}
	return nil
}

// secretFiles are the files that hold secrets, the configuration itself among them
// where one stands in it, and the keys of certificates.
func (s *shell) secretFiles(cfg *config.Config) []doctor.File {
	var files []doctor.File
	if text, err := os.ReadFile(s.config); err == nil && config.HoldsSecret(text) {
		files = append(files, doctor.File{Path: s.config})
	}
	for _, f := range append(
		cfg.SecretFiles(),
		config.SecretFile{Key: "telegram.webhook.tls_key_file", Path: cfg.Telegram.Webhook.TLSKeyFile},
		config.SecretFile{Key: "redis.tls_key_file", Path: cfg.Redis.TLSKeyFile},
	) {
		if f.Path != "" {
			files = append(files, doctor.File{Key: f.Key, Path: f.Path})
		}
	}
	for i := range files {
		// What a container is given of secrets, all in it may read: there is nobody else.
		if strings.HasPrefix(files[i].Path, "/run/secrets/") {
			continue
		}
		if info, err := os.Stat(files[i].Path); err == nil {
			files[i].World = info.Mode()&fs.FileMode(0o004) != 0
		}
	}
	return files
}

// A report prints findings as they come, or all at once as JSON.
type report struct {
	out      io.Writer
	json     bool
	coloured bool
	findings []doctor.Finding
}

func newReport(s *shell, asJSON bool) *report {
	return &report{out: s.stdout, json: asJSON, coloured: s.coloured(), findings: []doctor.Finding{}}
}

// coloured reports whether what is printed may have colours: on a terminal, unless the
// environment says otherwise.
func (s *shell) coloured() bool {
	f, ok := s.stdout.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && lookup(s.environ, "NO_COLOR") == "" && lookup(s.environ, "TERM") != "dumb"
}

// Escapes of a terminal.
const (
	inGreen  = "\x1b[32m"
	inYellow = "\x1b[33m"
	inRed    = "\x1b[31m"
	inPlain  = "\x1b[0m"
)

func (r *report) tell(f doctor.Finding) {
	r.findings = append(r.findings, f)
	if r.json {
		return
	}
	level := fmt.Sprintf("%-7s", f.Level)
	if r.coloured {
		colour := map[doctor.Level]string{doctor.Good: inGreen, doctor.Warning: inYellow, doctor.Fault: inRed}[f.Level]
		level = colour + level + inPlain
	}
	line := level + "  " + f.Check + ": " + f.What
	if f.Remedy != "" {
		line += ". Remedy: " + f.Remedy
	}
	fmt.Fprintln(r.out, line)
}

// end says how it went. A fault is an error without words, since its line has them.
func (r *report) end() error {
	count := map[doctor.Level]int{}
	for _, f := range r.findings {
		count[f.Level]++
	}
	if r.json {
		out := json.NewEncoder(r.out)
		out.SetEscapeHTML(false)
		out.SetIndent("", "  ")
		if err := out.Encode(map[string]any{
			"findings": r.findings, "faults": count[doctor.Fault], "warnings": count[doctor.Warning],
		}); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(r.out, "%s, %s\n", number(count[doctor.Fault], "fault"), number(count[doctor.Warning], "warning"))
	}
	if count[doctor.Fault] > 0 {
		return &failure{code: exitNotDone, err: errors.New("")}
	}
	return nil
}

// number counts things in words.
func number(n int, thing string) string {
	switch n {
	case 0:
		return "no " + thing
	case 1:
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
