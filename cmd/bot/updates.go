package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"countersign/config"
	"countersign/telegram"
)

// pollSoon bounds how long polling waits for what Redis knows of it.
const pollSoon = 2 * time.Second

// poll reads updates by long polling, while this process leads. A webhook that
// was set before would keep them away, so it is taken off first.
//
// Where Redis has gone since the lease was taken, neither that webhook nor the offset
// is known. Polling begins all the same, from the oldest update, which confirms none:
// whoever taps is told that it is being tried. What comes twice by that is known by its
// id; and a webhook that stands is only a conflict until it can be taken off.
func (a *App) poll(ctx context.Context) error {
	soon, end := context.WithTimeout(ctx, pollSoon)
	err := a.unhook(soon)
	end()
	return together(ctx,
		func(ctx context.Context) error { return a.unhookLater(ctx, err) },
		telegram.NewPoller(telegram.PollerConfig{
			Client: a.client, Sink: a.words, Log: a.opts.Log, Now: a.opts.Now, Jitter: a.opts.Jitter,
			Load: func(ctx context.Context) (int64, error) {
				ctx, end := context.WithTimeout(ctx, pollSoon)
				defer end()
				return a.store.Offset(ctx)
			},
			Save: a.store.SetOffset, OnHealth: a.heard,
		}).Run,
	)
}

// unhookLater takes off a webhook of ours as soon as it can be, where it could not be
// for this error.
func (a *App) unhookLater(ctx context.Context, err error) error {
	for err != nil && ctx.Err() == nil {
		if ferr := fatal(err); ferr != nil {
			return ferr
		}
		a.opts.Log.Warn().Err(err).Msg("it is not known whether a webhook of ours is set; asking again")
		if !wait(ctx, hookEvery) {
			return nil
		}
		err = a.unhook(ctx)
	}
	return nil
}

// fatal passes on an error that no later call can mend.
func fatal(err error) error {
	var e *telegram.Error
	if errors.As(err, &e) && e.Kind == telegram.Unauthorized {
		return fmt.Errorf("the bot token is refused: check telegram.token or telegram.token_file and "+
			"telegram.api_url, or get a new token from @BotFather: %w", e)
	}
	return nil
}

// receive serves the webhook, on every replica.
func (a *App) receive(ctx context.Context) error {
	t := a.config().Telegram
	if t.Mode != config.ModeWebhook {
		return nil
	}
	public, err := url.Parse(t.Webhook.PublicURL)
	if err != nil {
		return fmt.Errorf("telegram.webhook.public_url: %w", err)
	}
	hook, err := telegram.NewWebhook(telegram.WebhookConfig{
		Sink: a.words, Secret: t.WebhookSecret().Reveal(), Log: a.opts.Log, Now: a.opts.Now,
	})
	if err != nil {
		return err
	}
	path := public.Path
	if path == "" {
		path = "/"
	}
	mux := http.NewServeMux()
	mux.Handle(path, hook)
	listen := a.opts.Listen
	if listen == nil {
		listen = (&net.ListenConfig{}).Listen
	}
	listener, err := listen(ctx, "tcp", t.Webhook.Listen)
	if err != nil {
		return fmt.Errorf("telegram.webhook.listen: %w", err)
	}
	if t.Webhook.TLSCertFile != "" {
		pair, err := tls.LoadX509KeyPair(t.Webhook.TLSCertFile, t.Webhook.TLSKeyFile)
		if err != nil {
			return errors.Join(fmt.Errorf("telegram.webhook.tls_cert_file: %w", err), listener.Close())
		}
		listener = tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12})
	}
	return serve(ctx, listener, mux, "telegram.webhook.listen")
}

// serve serves until ctx ends, and lets running requests finish for a moment.
func serve(ctx context.Context, listener net.Listener, handler http.Handler, key string) error {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 30 * time.Second}
	stopped := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(stopped)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopWithin/2)
		defer cancel()
		if server.Shutdown(ctx) != nil {
			_ = server.Close()
		}
	})
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		stop()
		return fmt.Errorf("%s: %w", key, err)
	}
	<-stopped
	return nil
}
