package telegram

import (
	"context"
	"time"

	"github.com/go-telegram/bot"
)

// WebhookSettings say where Telegram shall deliver updates.
type WebhookSettings struct {
	URL            string // https, on port 443, 80, 88 or 8443
	Secret         string // 1–256 of A-Z, a-z, 0-9, _ and -; comes back in a header of every delivery
	MaxConnections int    // 1–100; 0: Telegram's default of 40
}

// SetWebhook lets Telegram deliver updates. Polling then fails with [Conflict]. Updates already waiting are kept.
func (c *Client) SetWebhook(ctx context.Context, s WebhookSettings) error {
	ctx, cancel := c.within(ctx)
	defer cancel()
	_, err := c.library.SetWebhook(ctx, &bot.SetWebhookParams{
		URL:            s.URL,
		SecretToken:    s.Secret,
		MaxConnections: s.MaxConnections,
		AllowedUpdates: allowedUpdates(),
	})
	return c.failure("setWebhook", err)
}

// DeleteWebhook goes back to polling. Updates already waiting are kept.
func (c *Client) DeleteWebhook(ctx context.Context) error {
	ctx, cancel := c.within(ctx)
	defer cancel()
	_, err := c.library.DeleteWebhook(ctx, &bot.DeleteWebhookParams{})
	return c.failure("deleteWebhook", err)
}

// WebhookInfo is what Telegram knows of its deliveries.
type WebhookInfo struct {
	URL            string // empty: none is set, updates are polled for
	Pending        int    // updates not yet delivered or confirmed
	LastError      string // why the last failed delivery failed; may be empty
	LastErrorAt    time.Time
	AllowedUpdates []string // empty: Telegram's default
	CustomCert     bool
}

// WebhookInfo asks how Telegram delivers.
func (c *Client) WebhookInfo(ctx context.Context) (WebhookInfo, error) {
	ctx, cancel := c.within(ctx)
	defer cancel()
	i, err := c.library.GetWebhookInfo(ctx)
	if err != nil {
		return WebhookInfo{}, c.failure("getWebhookInfo", err)
	}
	info := WebhookInfo{
		URL:            i.URL,
		Pending:        i.PendingUpdateCount,
		LastError:      c.wire.redact.line(i.LastErrorMessage),
		AllowedUpdates: i.AllowedUpdates,
		CustomCert:     i.HasCustomCertificate,
	}
	if i.LastErrorDate != 0 {
		info.LastErrorAt = time.Unix(int64(i.LastErrorDate), 0).UTC()
	}
	return info, nil
}
