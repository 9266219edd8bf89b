package telegram

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"
	"regexp"
	"time"

	"github.com/rs/zerolog"
)

const secretHeader = "X-Telegram-Bot-Api-Secret-Token"

// longestSecret is Telegram's limit. It stands beside the pattern, which would take a
// thousand times as long to compile with it, at every start.
const longestSecret = 256

var secretForm = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// WebhookConfig is what a Webhook needs.
type WebhookConfig struct {
	Sink   Sink
	Secret string // as given to [Client.SetWebhook]
	Log    zerolog.Logger
	Now    func() time.Time
}

// Webhook takes the updates that Telegram delivers by HTTP. It answers 200 only after the sink has kept an update;
// after anything else Telegram delivers it again, for as long as the update lives. No more than the largest update is read
// of a body. Any number of deliveries may run at once, on any number of replicas.
type Webhook struct {
	sink   Sink
	secret [sha256.Size]byte
	log    *sparseLog
}

// NewWebhook makes a Webhook. Without a fit secret there is none: anybody could post an approval to it.
func NewWebhook(cfg WebhookConfig) (*Webhook, error) {
	if len(cfg.Secret) > longestSecret || !secretForm.MatchString(cfg.Secret) {
		return nil, errors.New("telegram webhook secret: want 1 to 256 of A-Z, a-z, 0-9, _ and -")
	}
	return &Webhook{
		sink:   cfg.Sink,
		secret: sha256.Sum256([]byte(cfg.Secret)),
		log:    newSparseLog(cfg.Log, cfg.Now),
	}, nil
}

// ServeHTTP takes one update. Its path is the server's matter.
func (h *Webhook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	if !h.trusted(r.Header.Values(secretHeader)) {
		h.log.say(zerolog.WarnLevel, "webhook_secret", nil, "a delivery without the right secret was refused")
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	raw, err := readBounded(r.Body, largestUpdate)
	if err != nil && !errors.Is(err, errTooLarge) {
		h.log.say(zerolog.WarnLevel, "webhook_body", err, "a delivery could not be read")
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	// One that is too large comes cut, so that the sink sets it aside: refused, it would be delivered again and again,
	// and hold up what comes after it.
	if err := h.sink.Handle(r.Context(), []RawUpdate{{ID: updateID(raw), Raw: raw}}); err != nil {
		h.log.say(zerolog.ErrorLevel, "sink", err, "an update cannot be taken; Telegram delivers it again")
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	w.WriteHeader(http.StatusOK)
}

// trusted compares in a time that tells nothing of the secret. Two headers are one too many.
func (h *Webhook) trusted(given []string) bool {
	if len(given) != 1 {
		return false
	}
	sum := sha256.Sum256([]byte(given[0]))
	return subtle.ConstantTimeCompare(sum[:], h.secret[:]) == 1
}
