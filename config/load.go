package config

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// Load reads the configuration: the file at path (none where path is empty), the
// environment in the form of os.Environ, and the files of secrets. It validates the
// result. Mistakes in what was read come as an [*Error]; a configuration file that
// cannot be read is an error that wraps the cause.
func Load(path string, environ []string, readFile func(string) ([]byte, error)) (Config, error) {
	var data []byte
	if path != "" {
		var err error
		if data, err = readFile(path); err != nil {
			return Config{}, fmt.Errorf("read the configuration: %w", err)
		}
	}
	c, seen, err := read(path, data, environ)
	if err != nil {
		return Config{}, err
	}
	if problems := readSecrets(&c, seen, readFile); len(problems) > 0 {
		return Config{}, seen.locate(problems)
	}
	if problems := c.problems(); len(problems) > 0 {
		return Config{}, seen.locate(problems)
	}
	return c, nil
}

// Parse is [Load] without the files of secrets, which need not exist: their keys are
// checked and stay as they are. The name stands for data in messages.
func Parse(name string, data []byte, environ []string) (Config, error) {
	c, seen, err := read(name, data, environ)
	if err != nil {
		return Config{}, err
	}
	if problems := c.problems(); len(problems) > 0 {
		return Config{}, seen.locate(problems)
	}
	return c, nil
}

// read lays the file and then the environment over the defaults.
func read(name string, data []byte, environ []string) (Config, *places, error) {
	c := Default()
	seen := newPlaces(name)
	problems := decodeFile(&c, name, data, seen)
	problems = append(problems, applyEnvironment(&c, environ, seen)...)
	problems = append(problems, settleSecrets(&c, seen)...)
	if len(problems) > 0 {
		return Config{}, nil, &Error{Problems: problems}
	}
	return c, seen, nil
}

// A secretKey is a secret that can be given as a value or as a file.
type secretKey struct {
	value, file string // their keys
	set         func(text string)
	empty       func() bool
	path        *string
}

func secretKeys(c *Config) []secretKey {
	secret := func(value, file string, s *Secret, path *string) secretKey {
		return secretKey{value, file, func(text string) { *s = NewSecret(text) }, func() bool { return s.Empty() }, path}
	}
	return []secretKey{
		secret("telegram.token", "telegram.token_file", &c.Telegram.Token, &c.Telegram.TokenFile),
		secret("telegram.webhook.secret", "telegram.webhook.secret_file", &c.Telegram.Webhook.Secret, &c.Telegram.Webhook.SecretFile),
		{
			"redis.url", "redis.url_file",
			func(text string) { c.Redis.URL = NewRedisURL(text) },
			func() bool { return c.Redis.URL.Empty() },
			&c.Redis.URLFile,
		},
		secret("audit.signing_key", "audit.signing_key_file", &c.Audit.SigningKey, &c.Audit.SigningKeyFile),
	}
}

// A SecretFile is a file that holds a secret, and the key that names it.
type SecretFile struct{ Key, Path string }

// SecretFiles are the files that hold secrets, in the order of their keys. What is given
// in another way is not among them.
func (c *Config) SecretFiles() []SecretFile {
	var files []SecretFile
	for _, key := range secretKeys(c) {
		if *key.path != "" {
			files = append(files, SecretFile{Key: key.file, Path: *key.path})
		}
	}
	return files
}

// HoldsSecret reports whether the text of a configuration itself has a secret in it,
// used or not: the environment may give another.
func HoldsSecret(data []byte) bool {
	c := Default()
	decodeFile(&c, "", data, newPlaces("")) // what is wrong with it is for Load to say
	return !c.Telegram.Token.Empty() || !c.Telegram.Webhook.Secret.Empty() || !c.Audit.SigningKey.Empty() || c.Redis.URL.HasPassword()
}

// CheckSecrets reads the files of secrets as [Load] does, and reports with an [*Error]
// which of them could not be used. It keeps nothing of what it read.
func (c *Config) CheckSecrets(readFile func(string) ([]byte, error)) error {
	copied := *c
	if problems := readSecrets(&copied, newPlaces(""), readFile); len(problems) > 0 {
		return &Error{Problems: problems}
	}
	return nil
}

// settleSecrets finds secrets that were given twice in one place. Between the two
// places the environment wins.
func settleSecrets(c *Config, seen *places) []Problem {
	var problems []Problem
	for _, key := range secretKeys(c) {
		value, hasValue := seen.at[key.value]
		file, hasFile := seen.at[key.file]
		if !hasValue || !hasFile || key.empty() || *key.path == "" {
			continue
		}
		switch {
		case value.environment == file.environment:
			problems = append(problems, Problem{
				Where: file.where, Key: key.file,
				Text: fmt.Sprintf("%s is given too: keep one of the two", key.value),
			})
		case value.environment:
			*key.path = ""
		default:
			key.set("")
		}
	}
	return problems
}

// readSecrets reads the files of secrets into their values.
func readSecrets(c *Config, seen *places, readFile func(string) ([]byte, error)) []Problem {
	var problems []Problem
	for _, key := range secretKeys(c) {
		if *key.path == "" {
			continue
		}
		if looksSecret(*key.path) {
			problems = append(problems, Problem{Key: key.file, Text: fmt.Sprintf(
				"this is the secret itself and not the path of a file that holds it: move it to %s", key.value)})
			continue
		}
		data, err := readFile(*key.path)
		if err != nil {
			problems = append(problems, Problem{Key: key.file, Text: fmt.Sprintf("cannot read %s: %v", quote(*key.path), cause(err))})
			continue
		}
		text := strings.TrimSpace(string(data))
		if text == "" {
			problems = append(problems, Problem{Key: key.file, Text: fmt.Sprintf("the file %s is empty", quote(*key.path))})
			continue
		}
		key.set(text)
		if from, ok := seen.at[key.file]; ok {
			seen.at[key.value] = from
		}
	}
	return problems
}

// looksSecret reports whether a path is rather a bot token, a URL or a PEM text, which
// no message may repeat.
func looksSecret(path string) bool {
	return tokenShape.MatchString(strings.TrimSpace(path)) || strings.Contains(path, "://") || strings.Contains(path, "-----BEGIN")
}

// cause is err without the path, which the message names already.
func cause(err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		return pathErr.Err
	}
	return err
}
