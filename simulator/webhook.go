package simulator

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"time"

	"countersign/simulator/spec"
)

// Rules of webhooks.
const (
	webhookTimeout   = 60 * time.Second // for one delivery
	firstRetry       = time.Second      // doubles with each failure
	lastRetry        = time.Minute
	maxRetryAfter    = time.Hour // of what the bot's server asks for
	maxWebhookReply  = 1 << 20   // bytes
	defaultParallel  = 40
	secretHeader     = "X-Telegram-Bot-Api-Secret-Token"
	maxSecret        = 256
	webhookPortsText = "80, 88, 443 or 8443"
)

// webhook is where updates are sent. The server's mutex guards it.
type webhook struct {
	url, secret string
	parallel    int
	stop        context.CancelFunc // ends the deliveries
	busy        map[string]bool    // keys of which an update is under way
	lastError   string
	lastErrorAt time.Time
}

var secretPattern = regexp.MustCompile(`^[A-Za-z0-9_-]*$`)

func setWebhook(s *Server, c *call) (any, error) {
	address := c.text("url")
	if address == "" {
		return deleteWebhook(s, c)
	}
	if err := s.checkWebhookURL(address); err != nil {
		return nil, err
	}
	secret := c.text("secret_token")
	switch {
	case len(secret) > maxSecret:
		return nil, refused("secret token is too long")
	case !secretPattern.MatchString(secret):
		return nil, s.errs.wrong("secret token contains unallowed characters")
	}
	if err := c.allowedUpdates(&s.bot.queue); err != nil {
		return nil, err
	}
	s.endWebhook()
	s.endPoll("terminated by setWebhook request")
	if c.bool("drop_pending_updates") {
		s.bot.queue.updates = nil
	}
	ctx, cancel := context.WithCancel(s.ctx)
	s.bot.webhook = webhook{
		url: address, secret: secret, stop: cancel, busy: map[string]bool{},
		parallel: int(min(max(c.int("max_connections", defaultParallel), 1), 100)),
	}
	hook := s.bot.webhook
	s.running.Go(func() { s.deliver(ctx, hook) })
	return true, nil
}

// checkWebhookURL refuses what the real server refuses, and allows plain HTTP and any
// port for an address of this machine, which the real server never reaches.
func (s *Server) checkWebhookURL(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return s.errs.wrong("invalid webhook URL specified")
	}
	ip := net.ParseIP(u.Hostname())
	if u.Hostname() == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	if u.Scheme != "https" {
		return refused("bad webhook: An HTTPS URL must be provided for webhook")
	}
	switch u.Port() {
	case "", "80", "88", "443", "8443":
		return nil
	}
	return s.errs.wrong("bad webhook: Webhook can be set up only on ports " + webhookPortsText)
}

func deleteWebhook(s *Server, c *call) (any, error) {
	s.endWebhook()
	if c.bool("drop_pending_updates") {
		s.bot.queue.updates = nil
	}
	return true, nil
}

// endWebhook stops deliveries. The caller holds mu.
func (s *Server) endWebhook() {
	if s.bot.webhook.stop != nil {
		s.bot.webhook.stop()
	}
	s.bot.webhook = webhook{}
	s.wake()
}

// webhookInfo is the answer of getWebhookInfo.
type webhookInfo struct {
	URL            string   `json:"url"`
	HasCertificate bool     `json:"has_custom_certificate"`
	Pending        int      `json:"pending_update_count"`
	LastErrorDate  int64    `json:"last_error_date,omitempty"`
	LastError      string   `json:"last_error_message,omitempty"`
	MaxConnections int      `json:"max_connections,omitempty"`
	AllowedUpdates []string `json:"allowed_updates,omitempty"`
}

func getWebhookInfo(s *Server, _ *call) (any, error) {
	w := s.bot.webhook
	info := webhookInfo{
		URL: w.url, Pending: len(s.bot.queue.updates), LastError: w.lastError,
		MaxConnections: w.parallel, AllowedUpdates: s.bot.queue.allowed,
	}
	if w.lastError != "" {
		info.LastErrorDate = w.lastErrorAt.Unix()
	}
	return info, nil
}

// deliver hands updates to goroutines until the webhook ends. Updates with one key go
// one after the other.
func (s *Server) deliver(ctx context.Context, hook webhook) {
	slots := make(chan struct{}, hook.parallel)
	for ctx.Err() == nil {
		s.mu.Lock()
		s.bot.queue.expire(s.options.Now())
		u, ok := s.nextDelivery(hook)
		news := s.feed.news
		s.mu.Unlock()
		if ok {
			s.running.Go(func() { s.deliverOne(ctx, hook, u, slots) })
			continue
		}
		select {
		case <-news:
		case <-ctx.Done():
			return
		}
	}
}

// nextDelivery picks the oldest update whose key is not busy. The caller holds mu.
func (s *Server) nextDelivery(hook webhook) (update, bool) {
	for _, u := range s.bot.queue.updates {
		if !hook.busy[u.key] {
			hook.busy[u.key] = true
			return u, true
		}
	}
	return update{}, false
}

// deliverOne tries until the bot's server takes the update, it expires or the webhook
// ends.
func (s *Server) deliverOne(ctx context.Context, hook webhook, u update, slots chan struct{}) {
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(hook.busy, u.key)
		s.wake()
	}()
	for pause := firstRetry; ctx.Err() == nil; pause = min(2*pause, lastRetry) {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		failure, retryAfter := s.attempt(ctx, hook, u)
		<-slots
		if ctx.Err() != nil {
			return
		}
		left, done := s.delivered(u, failure)
		if done {
			return
		}
		s.wait(ctx, min(max(pause, retryAfter), left))
	}
}

// delivered notes how a delivery went. It reports whether the update is done with, and
// else how long it has left to live.
func (s *Server) delivered(u update, failure string) (left time.Duration, done bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	left = u.expires.Sub(s.options.Now())
	if failure == "" || left <= 0 {
		s.bot.queue.updates = slices.DeleteFunc(s.bot.queue.updates, func(o update) bool { return o.id == u.id })
		return 0, true
	}
	s.bot.webhook.lastError, s.bot.webhook.lastErrorAt = failure, s.options.Now()
	return left, false
}

// attempt makes one delivery.
func (s *Server) attempt(ctx context.Context, hook webhook, u update) (failure string, retryAfter time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, webhookTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, hook.url, bytes.NewReader(u.raw))
	if err != nil {
		return err.Error(), 0
	}
	request.Header.Set("Content-Type", "application/json")
	if hook.secret != "" {
		request.Header.Set(secretHeader, hook.secret)
	}
	response, err := s.options.WebhookClient.Do(request)
	if err != nil {
		return err.Error(), 0
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxWebhookReply))
	if response.StatusCode/100 != 2 {
		seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
		return "Wrong response from the webhook: " + response.Status,
			min(time.Duration(max(seconds, 0))*time.Second, maxRetryAfter)
	}
	if err == nil {
		s.callFromReply(ctx, body)
	}
	return "", 0
}

// callFromReply carries out a call that the bot put into its answer to a webhook.
func (s *Server) callFromReply(ctx context.Context, body []byte) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(body, &fields) != nil || fields["method"] == nil {
		return
	}
	c := &call{params: map[string]spec.Value{}, at: s.options.Now()}
	if json.Unmarshal(fields["method"], &c.name) != nil {
		return
	}
	delete(fields, "method")
	for name, raw := range fields {
		c.params[name] = spec.Value{JSON: raw}
	}
	err := s.check(c)
	var result json.RawMessage
	if err == nil {
		result, err = s.perform(ctx, c)
	}
	s.record(c, result, err)
}
