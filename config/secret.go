package config

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
)

// masked stands for whatever must not be shown.
const masked = "***"

// Secret is a text that does not print. With every verb of fmt, in JSON, YAML and logs
// it is `***`, or nothing where it is empty. The zero value is the empty secret.
// Secrets are immutable.
type Secret struct {
	// A pointer, because fmt calls no methods on what it finds in unexported fields:
	// there it prints the address and not the text.
	text *string
}

// NewSecret wraps text.
func NewSecret(text string) Secret {
	if text == "" {
		return Secret{}
	}
	return Secret{text: &text}
}

// Reveal returns the text.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// Empty reports whether there is no text.
func (s Secret) Empty() bool { return s.text == nil }

// Equal reports whether both hold the same text. It takes no care of timing.
func (s Secret) Equal(other Secret) bool { return s.Reveal() == other.Reveal() }

// String returns the mask.
func (s Secret) String() string {
	if s.Empty() {
		return ""
	}
	return masked
}

// Format prints the mask, whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// MarshalText returns the mask, for encoders that know no better.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalJSON returns the mask.
func (s Secret) MarshalJSON() ([]byte, error) { return json.Marshal(s.String()) }

// MarshalYAML returns the mask.
func (s Secret) MarshalYAML() (any, error) { return s.String(), nil }

// RedisURL is a Redis address that prints without its password. Like [Secret] it is
// immutable, and its zero value is empty.
type RedisURL struct {
	secret Secret
}

// NewRedisURL wraps a URL. Whether it is one is checked by [Config.Validate].
func NewRedisURL(text string) RedisURL { return RedisURL{secret: NewSecret(text)} }

// Reveal returns the URL with its password.
func (u RedisURL) Reveal() string { return u.secret.Reveal() }

// Empty reports whether there is no URL.
func (u RedisURL) Empty() bool { return u.secret.Empty() }

// Equal reports whether both hold the same URL.
func (u RedisURL) Equal(other RedisURL) bool { return u.secret.Equal(other.secret) }

// HasPassword reports whether a password stands in it. What is no URL may hold one.
func (u RedisURL) HasPassword() bool {
	parsed, err := url.Parse(u.Reveal())
	if err != nil {
		return true
	}
	_, has := parsed.User.Password()
	return has
}

// String returns scheme, user, host and path; the password is masked and options are
// left out. What is no URL is masked whole, since a password may stand anywhere in it.
func (u RedisURL) String() string {
	if u.Empty() {
		return ""
	}
	parsed, err := url.Parse(u.Reveal())
	if err != nil || parsed.Scheme == "" || parsed.Opaque != "" || parsed.Host == "" && parsed.Path == "" {
		return masked
	}
	who := ""
	if parsed.User != nil {
		who = url.User(parsed.User.Username()).String()
		if _, has := parsed.User.Password(); has {
			who += ":" + masked
		}
		who += "@"
	}
	return parsed.Scheme + "://" + who + parsed.Host + parsed.EscapedPath()
}

// Format prints what String returns, whatever the verb.
func (u RedisURL) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, u.String()) }

// MarshalText returns what String returns.
func (u RedisURL) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// MarshalJSON returns what String returns.
func (u RedisURL) MarshalJSON() ([]byte, error) { return json.Marshal(u.String()) }

// MarshalYAML returns what String returns.
func (u RedisURL) MarshalYAML() (any, error) { return u.String(), nil }
