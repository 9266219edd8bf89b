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

// poll reads updates by long polling, while this process leads. A webhook that
// was set before would keep them away, so it is taken off.
func (a *App) poll(ctx context.Context) error {
	for {
		err := a.unhook(ctx)
		if err == nil {
			break
		}
		if ferr := fatal(err); ferr != nil {
			return ferr
		}
		a.opts.Log.Warn().Err(err).Msg("it is not known whether a webhook of ours is set; asking again")
		if !wait(ctx, hookEvery) {
			return nil
		}
	}
	return telegram.NewPoller(telegram.PollerConfig{
		Client: a.client, Sink: a.words, Log: a.opts.Log, Now: a.opts.Now, Jitter: a.opts.Jitter,
		Load: a.store.Offset, Save: a.store.SetOffset, OnHealth: a.heard,
	}).Run(ctx)
}

// hookSetting remembers the webhook that was set by us.
const hookSetting = "webhook"

// unhook takes off a webhook of ours. One of somebody else's stays, and shows
// as a conflict: this bot may not take another system's updates by itself.
func (a *App) unhook(ctx context.Context) error {
	ours, err := a.store.Setting(ctx, hookSetting)
	if err != nil || ours == "" {
		return err
	}
	info, err := a.client.WebhookInfo(ctx)
	if err != nil {
		return err
	}
	if info.URL == ours {
		if err := a.client.DeleteWebhook(ctx); err != nil {
			return err
		}
		a.opts.Log.Info().Msg("the webhook set before was taken off; updates are polled")
	}
	return a.store.SetSetting(ctx, hookSetting, "")
}

// fatal passes on an error that no later call can mend.
func fatal(err error) error {
	var e *telegram.Error
	if errors.As(err, &e) && e.Kind == telegram.Unauthorized {
		return err
	}
	return nil
}

// hookEvery is how often a failed setWebhook is tried again.
const hookEvery = 10 * time.Second

// hook tells Telegram where to deliver updates, while this process leads.
func (a *App) hook(ctx context.Context) error {
	t := a.config().Telegram
	for {
		err := a.client.SetWebhook(ctx, telegram.WebhookSettings{URL: t.Webhook.PublicURL, Secret: t.WebhookSecret().Reveal()})
		if err == nil {
			err = a.store.SetSetting(ctx, hookSetting, t.Webhook.PublicURL)
		}
		if err == nil {
			a.health.set("telegram", "")
			<-ctx.Done()
			return nil
		}
		if ferr := fatal(err); ferr != nil {
			return ferr
		}
		if ctx.Err() != nil {
			return nil
		}
		a.health.set("telegram", "the webhook is not set")
		a.opts.Log.Error().Err(err).Msg("the webhook is not set; trying again")
		if !wait(ctx, hookEvery) {
			return nil
		}
	}
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
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", t.Webhook.Listen)
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
