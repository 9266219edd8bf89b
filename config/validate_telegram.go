package config

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
)

var (
	tokenShape  = regexp.MustCompile(`^[0-9]+:[A-Za-z0-9_-]+$`)
	secretShape = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)
)

// officialHost is Telegram's own server; what it refuses, a server of one's own may take.
const officialHost = "api.telegram.org"

func checkTelegram(f *findings, t *Telegram) {
	switch {
	case t.Token.Empty() && t.TokenFile == "":
		f.add("telegram.token", "it is missing; give telegram.token_file, telegram.token or COUNTERSIGN_TELEGRAM_TOKEN, as received from @BotFather")
	case !t.Token.Empty() && !tokenShape.MatchString(t.Token.Reveal()):
		f.add("telegram.token", "this is not a bot token; want digits, a colon, and letters, digits, _ or -, with nothing around them")
	}
	official := checkAPIURL(f, t.APIURL)
	f.oneOf("telegram.mode", t.Mode, ModePolling, ModeWebhook)
	if t.Mode == ModeWebhook {
		checkPublicURL(f, t.Webhook.PublicURL, official)
	}
	checkListen(f, "telegram.webhook.listen", t.Webhook.Listen)
	if s := t.Webhook.Secret; !s.Empty() && (len(s.Reveal()) > 256 || !secretShape.MatchString(s.Reveal())) {
		f.add("telegram.webhook.secret", "this cannot be a webhook secret; want 1–256 letters, digits, _ or -")
	}
	switch {
	case t.Webhook.TLSCertFile != "" && t.Webhook.TLSKeyFile == "":
		f.add("telegram.webhook.tls_key_file", "tls_cert_file is given without it; want both, or neither for plain HTTP")
	case t.Webhook.TLSCertFile == "" && t.Webhook.TLSKeyFile != "":
		f.add("telegram.webhook.tls_cert_file", "tls_key_file is given without it; want both, or neither for plain HTTP")
	}
	for _, limit := range []struct {
		key   string
		value float64
	}{
		{"per_second", t.Limits.PerSecond},
		{"chat_per_second", t.Limits.ChatPerSecond},
		{"group_per_minute", t.Limits.GroupPerMinute},
	} {
		if !(limit.value >= 0) { // also true of NaN
			f.add(child("telegram.limits", limit.key), "%v is below 0; want a rate, or 0 for no limit", limit.value)
		}
	}
}

// checkAPIURL reports whether the URL is that of Telegram's own server. Paths are not
// repeated, since people paste them with the token in.
func checkAPIURL(f *findings, text string) (official bool) {
	const key, want = "telegram.api_url", "want an absolute URL, e.g. https://api.telegram.org"
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		f.add(key, "this is not an http or https URL; %s", want)
		return false
	}
	official = strings.EqualFold(u.Hostname(), officialHost)
	switch {
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		f.add(key, "user, query and fragment have no place here; %s", want)
	case strings.Contains(u.Path, ":"):
		f.add(key, "the path seems to hold a token; %s", want)
	case official && u.Scheme == "http":
		f.add(key, "http would send the token in the clear; want https for %s", officialHost)
	}
	return official
}

// checkPublicURL holds a webhook to what Telegram's own server takes. A Bot API server
// of one's own may call plain HTTP and any port.
func checkPublicURL(f *findings, text string, official bool) {
	const key, want = "telegram.webhook.public_url", "want the URL under which Telegram reaches this bot, e.g. https://bot.example.org/telegram"
	if text == "" {
		f.add(key, "mode webhook needs it; %s", want)
		return
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		f.add(key, "this is not a URL; %s", want)
	case official && u.Scheme != "https":
		f.add(key, "Telegram calls only https; %s", want)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		f.add(key, "user, query and fragment have no place here; %s", want)
	case official && !slices.Contains([]string{"", "443", "80", "88", "8443"}, u.Port()):
		f.add(key, "Telegram does not call port %s; want 443, 80, 88 or 8443", u.Port())
	}
}
