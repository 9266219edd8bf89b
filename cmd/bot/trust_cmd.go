package main

import (
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"countersign/approval"
	"countersign/store"
)

// The commands about signatures, and about forgetting.

type keygenCmd struct {
	File string `arg:"" optional:"" default:"countersign-signing.pem" help:"Where the private key goes; the public one goes beside it, as .pub.pem."`
}

// Run makes a signing key. It overwrites nothing.
func (c *keygenCmd) Run(s *shell) error {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	secret, open, err := approval.EncodeKeys(private)
	if err != nil {
		return err
	}
	public := strings.TrimSuffix(c.File, ".pem") + ".pub.pem"
	if err := create(c.File, secret, 0o600); err != nil {
		return err
	}
	if err := create(public, open, 0o644); err != nil {
		return errors.Join(err, os.Remove(c.File))
	}
	fmt.Fprintf(s.stdout, "key %s\nprivate key  %s  (audit.signing_key_file; keep it where only the bot can read it)\npublic key   %s  (give it to runtimes and auditors)\n",
		approval.KeyID(private.Public().(ed25519.PublicKey)), c.File, public)
	return nil
}

// create writes a file that is not there yet.
func create(name string, data []byte, mode fs.FileMode) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if errors.Is(err, fs.ErrExist) {
		return fail(exitNotDone, "%s is there already; nothing was overwritten", name)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

type verifyCmd struct {
	File string   `short:"f" required:"" help:"The data of an answer or an undo request, JSON; - for standard input." placeholder:"FILE"`
	Key  []string `required:"" sep:"none" help:"Public keys that are trusted, PEM; may be given again." placeholder:"PUB.pem"`
}

// Run checks the signature of an event out.
func (c *verifyCmd) Run(s *shell) error {
	keys, err := s.publicKeys(c.Key)
	if err != nil {
		return err
	}
	data, err := s.readFile(c.File)
	if err != nil {
		return err
	}
	key, err := keys.Check(data)
	if err != nil {
		return fail(exitNotDone, "%s: %w", c.File, err)
	}
	fmt.Fprintf(s.stdout, "good: signed by key %s\n", key)
	return nil
}

// publicKeys reads keys from files, nil where none are named.
func (s *shell) publicKeys(files []string) (*approval.Keys, error) {
	var text []byte
	for _, file := range files {
		data, err := s.readFile(file)
		if err != nil {
			return nil, err
		}
		text = append(append(text, data...), '\n')
	}
	if len(files) == 0 {
		return nil, nil
	}
	keys, err := approval.ParseKeys(text)
	if err != nil {
		return nil, fail(exitUsage, "%s: %w", strings.Join(files, ", "), err)
	}
	return keys, nil
}

type forgetCmd struct {
	ID string `arg:"" help:"The approval's id."`
}

// Run takes an approval's text away, and says what it cannot reach.
func (c *forgetCmd) Run(s *shell) error {
	t := target{configured: true} // for its retention and its key
	rdb, cfg, err := t.open(s)
	if err != nil {
		return err
	}
	defer func() { _ = rdb.Close() }()
	st, err := newStore(rdb, cfg)
	if err != nil {
		return err
	}
	name := osUser()
	status, r, err := st.ForgetText(s.ctx, c.ID, approval.By{Surface: approval.CLI, ID: name, Name: name})
	switch {
	case err != nil:
		return unreached(err)
	case status == store.StillOpen:
		return fail(exitNotDone, "%s is open: answer it first, or wait until it lapses", c.ID)
	case status != store.Done:
		return fail(exitNotDone, "%s: %s", c.ID, refusal(status, r))
	}
	streams := append(streamKeys(cfg), st.Keys().Answers(), st.Keys().Dead())
	entries := 0
	for _, stream := range streams {
		n, err := st.ForgetEntries(s.ctx, stream, c.ID)
		if err != nil {
			return unreached(err)
		}
		entries += n
	}
	fmt.Fprintf(s.stdout, "%s is forgotten: its text is gone from Redis, with %d stream entries; its digests stay in the audit.\n", c.ID, entries)
	s.remains(r, streamKeys(cfg), st.Keys().Prefix())
	return nil
}

// remains says what of an approval is where no command of ours takes it away.
func (s *shell) remains(r *store.Reading, streams []string, prefix string) {
	if n := len(r.Cards); n > 0 {
		fmt.Fprintf(s.stdout, "Its cards (%d) are drawn without text as soon as a bot runs.\n", n)
	}
	fmt.Fprint(s.stdout, "What stays, and can only be deleted there:\n")
	for _, c := range r.Cards {
		for what, message := range map[string]int{"lapse notice": c.Notice, "reminder": c.Reminder} {
			if message > 0 {
				fmt.Fprintf(s.stdout, "- Telegram, chat %d: the %s in message %d names it\n", c.Chat, what, message)
			}
		}
	}
	fmt.Fprint(s.stdout, "- Telegram: files that were sent of it, what people wrote about it, and what phones and other apps have kept\n"+
		"- backups and append-only files of Redis from before now, until Redis rewrites them\n"+
		"- the runtime's own records\n")
	for _, stream := range streams {
		if !strings.HasPrefix(stream, prefix) {
			fmt.Fprintf(s.stdout, "- the stream %s, which is not this namespace's own\n", stream)
		}
	}
}

// unreached is a failure of Redis, or a process that has no key where one is needed.
func unreached(err error) error {
	if errors.Is(err, store.ErrNamespaceSigns) {
		return &failure{code: exitUsage, err: err}
	}
	return &failure{code: exitUnavailable, err: err}
}
