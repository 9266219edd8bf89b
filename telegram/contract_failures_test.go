package telegram_test

import (
	"context"
	"testing"
	"time"

	"countersign/simulator"
	"countersign/telegram"
)

// Each failure as the server brings it about, not as a canned answer.
func TestContractFailures(t *testing.T) {
	const group, upgraded, forum = -77, -1_000_000_000_078, -1_000_000_000_079
	send := func(ctx context.Context, c *telegram.Client, o telegram.Outgoing) error {
		_, err := c.Send(ctx, o)
		return err
	}
	for _, tt := range []struct {
		name    string
		options simulator.Options
		call    func(ctx context.Context, s *simulator.Server, p *simulator.Person, c *telegram.Client) error
		want    telegram.Error // Kind, TimeTag, MigrateTo, RetryAfter and Ambiguous count
	}{
		{
			name: "blocked",
			call: func(ctx context.Context, _ *simulator.Server, p *simulator.Person, c *telegram.Client) error {
				p.Block()
				return send(ctx, c, telegram.Outgoing{Chat: bell, HTML: "x"})
			},
			want: telegram.Error{Kind: telegram.Blocked},
		},
		{
			name: "deactivated",
			call: func(ctx context.Context, _ *simulator.Server, p *simulator.Person, c *telegram.Client) error {
				p.Deactivate()
				return send(ctx, c, telegram.Outgoing{Chat: bell, HTML: "x"})
			},
			want: telegram.Error{Kind: telegram.Blocked},
		},
		{
			name: "never started",
			call: func(ctx context.Context, s *simulator.Server, _ *simulator.Person, c *telegram.Client) error {
				s.AddUser(5, "New")
				return send(ctx, c, telegram.Outgoing{Chat: 5, HTML: "x"})
			},
			want: telegram.Error{Kind: telegram.Blocked},
		},
		{
			name: "kicked",
			call: func(ctx context.Context, s *simulator.Server, p *simulator.Person, c *telegram.Client) error {
				s.AddGroup(group, "Ops", p).KickBot()
				return send(ctx, c, telegram.Outgoing{Chat: group, HTML: "x"})
			},
			want: telegram.Error{Kind: telegram.Blocked},
		},
		{
			name: "upgraded",
			call: func(ctx context.Context, s *simulator.Server, p *simulator.Person, c *telegram.Client) error {
				s.AddGroup(group, "Ops", p).Upgrade(upgraded)
				return send(ctx, c, telegram.Outgoing{Chat: group, HTML: "x"})
			},
			want: telegram.Error{Kind: telegram.Migrated, MigrateTo: upgraded},
		},
		{
			name: "unknown topic",
			call: func(ctx context.Context, s *simulator.Server, p *simulator.Person, c *telegram.Client) error {
				s.AddForum(forum, "Ops", p)
				return send(ctx, c, telegram.Outgoing{Chat: forum, Thread: 99, HTML: "x"})
			},
			want: telegram.Error{Kind: telegram.ThreadGone},
		},
		{
			name: "closed topic",
			call: func(ctx context.Context, s *simulator.Server, p *simulator.Person, c *telegram.Client) error {
				room := s.AddForum(forum, "Ops", p)
				thread := room.AddTopic("Mail")
				room.SetTopicClosed(thread, true)
				return send(ctx, c, telegram.Outgoing{Chat: forum, Thread: int(thread), HTML: "x"})
			},
			want: telegram.Error{Kind: telegram.ThreadGone},
		},
		{
			name: "bad markup",
			call: func(ctx context.Context, _ *simulator.Server, _ *simulator.Person, c *telegram.Client) error {
				return send(ctx, c, telegram.Outgoing{Chat: bell, HTML: "<b>x"})
			},
			want: telegram.Error{Kind: telegram.Parse},
		},
		{
			name:    "server without tg-time",
			options: simulator.Options{NoTgTime: true},
			call: func(ctx context.Context, _ *simulator.Server, _ *simulator.Person, c *telegram.Client) error {
				return send(ctx, c, telegram.Outgoing{Chat: bell, HTML: `<tg-time unix="1">x</tg-time>`})
			},
			want: telegram.Error{Kind: telegram.Parse, TimeTag: true},
		},
		{
			name: "edit of a message that is gone",
			call: func(ctx context.Context, _ *simulator.Server, _ *simulator.Person, c *telegram.Client) error {
				return c.Edit(ctx, bell, 999, telegram.Outgoing{HTML: "x"})
			},
			want: telegram.Error{Kind: telegram.NotFoundMessage},
		},
		{
			name: "tap answered too late",
			call: func(ctx context.Context, _ *simulator.Server, _ *simulator.Person, c *telegram.Client) error {
				return c.AnswerCallback(ctx, "12345", "", false)
			},
			want: telegram.Error{Kind: telegram.QueryTooOld},
		},
		{
			name: "flood",
			call: func(ctx context.Context, s *simulator.Server, _ *simulator.Person, c *telegram.Client) error {
				s.Fault(simulator.Fault{
					Code: 429, Description: "Too Many Requests: retry after 6775", Parameters: &simulator.Parameters{RetryAfter: 6775},
				})
				return send(ctx, c, telegram.Outgoing{Chat: bell, HTML: "x"})
			},
			want: telegram.Error{Kind: telegram.TooMany, RetryAfter: 6775 * time.Second},
		},
		{
			name: "proxy down",
			call: func(ctx context.Context, s *simulator.Server, _ *simulator.Person, c *telegram.Client) error {
				s.Fault(simulator.Fault{Kind: simulator.BadGateway})
				return send(ctx, c, telegram.Outgoing{Chat: bell, HTML: "x"})
			},
			want: telegram.Error{Kind: telegram.Server, Ambiguous: true},
		},
		{
			name: "connection reset after the message was posted",
			call: func(ctx context.Context, s *simulator.Server, _ *simulator.Person, c *telegram.Client) error {
				s.Fault(simulator.Fault{Kind: simulator.Reset, Applied: true})
				return send(ctx, c, telegram.Outgoing{Chat: bell, HTML: "x"})
			},
			want: telegram.Error{Kind: telegram.Transport, Ambiguous: true},
		},
		{
			name: "redirect",
			call: func(ctx context.Context, s *simulator.Server, _ *simulator.Person, c *telegram.Client) error {
				s.Fault(simulator.Fault{Kind: simulator.Redirect, Location: "https://elsewhere.example/"})
				return send(ctx, c, telegram.Outgoing{Chat: bell, HTML: "x"})
			},
			want: telegram.Error{Kind: telegram.Server},
		},
		{
			name: "revoked token",
			call: func(ctx context.Context, s *simulator.Server, _ *simulator.Person, _ *telegram.Client) error {
				stranger, err := telegram.New(telegram.Config{Token: testToken, HTTP: s.Client()})
				if err != nil {
					return err
				}
				_, err = stranger.Me(ctx)
				return err
			},
			want: telegram.Error{Kind: telegram.Unauthorized},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server, person, c := newServer(t, tt.options)
			e := failure(t, tt.call(t.Context(), server, person, c))
			got := telegram.Error{
				Kind: e.Kind, TimeTag: e.TimeTag, MigrateTo: e.MigrateTo, RetryAfter: e.RetryAfter, Ambiguous: e.Ambiguous,
			}
			if got != tt.want {
				t.Errorf("failed with %v (%+v), want %+v", e, got, tt.want)
			}
		})
	}
}
