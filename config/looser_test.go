package config_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"countersign/config"
)

// Each change is told by its code and whom it is about; the way back, or what is not
// counted, by nothing.
func TestLooser(t *testing.T) {
	t.Parallel()
	route := func(c *config.Config, i int) *config.RouteRule { return &c.Routes[i] }
	for _, tt := range []struct {
		name   string
		before func(*config.Config) // nil: as it is
		after  func(*config.Config)
		want   []string
		back   []string // of the way back
	}{
		{name: "nothing", after: func(*config.Config) {}},
		{name: "a new owner", after: func(c *config.Config) {
			c.People = append(c.People, config.Person{ID: 4, Name: "Dan", Role: config.RoleOwner})
		}, want: []string{"owner_added 4"}},
		{name: "a new reader", after: func(c *config.Config) {
			c.People = append(c.People, config.Person{ID: 4, Name: "Dan", Role: config.RoleReader})
		}, want: []string{"reader_added 4"}},
		{name: "a reader becomes an owner", after: func(c *config.Config) { c.People[1].Role = config.RoleOwner }, want: []string{"owner_promoted 2"}},
		{name: "an owner's id changes", after: func(c *config.Config) { c.People[0].ID = 9 }, want: []string{"owner_id_changed 9"}, back: []string{"owner_id_changed 1"}},
		{name: "another name", after: func(c *config.Config) { c.People[0].Name = "Anna" }},
		{name: "people in another order", after: func(c *config.Config) { slices.Reverse(c.People) }},
		{name: "more owners", after: func(c *config.Config) { route(c, 0).Owners = []int64{3, 1} }, want: []string{"route_owners 0"}},
		{name: "every owner", after: func(c *config.Config) { route(c, 0).Owners = nil }, want: []string{"route_owners 0"}},
		{name: "another owner", after: func(c *config.Config) { route(c, 0).Owners = []int64{1} }, want: []string{"route_owners 0"}, back: []string{"route_owners 0"}},
		{name: "a newcomer who is named", after: func(c *config.Config) {
			c.People = append(c.People, config.Person{ID: 4, Name: "Dan", Role: config.RoleOwner})
			route(c, 0).Owners = []int64{3, 4}
		}, want: []string{"owner_added 4", "route_owners 0"}},
		{name: "a smaller quorum", after: func(c *config.Config) { route(c, 1).Quorum = 1 }, want: []string{"route_quorum 1"}},
		{name: "another chat", after: func(c *config.Config) { route(c, 1).Chats = []config.Chat{{ID: -6, Thread: 2}} }, want: []string{"route_chats 1"}, back: []string{"route_chats 1"}},
		{name: "one chat more", after: func(c *config.Config) { route(c, 1).Chats = []config.Chat{{ID: -6}, {ID: 1}} }, want: []string{"route_chats 1"}},
		// Without it what was sent falls to every owner's direct chat, and one suffices.
		{name: "a route is gone", after: func(c *config.Config) { c.Routes = slices.Delete(c.Routes, 1, 2) }, want: []string{"route_quorum ", "route_chats "}, back: []string{"route_chats 1"}},
		{name: "a route ahead that takes less", after: func(c *config.Config) {
			c.Routes = slices.Insert(c.Routes, 0, config.RouteRule{Match: config.Match{Tool: "send_sms"}, Chats: []config.Chat{{ID: -6}}, Quorum: 1})
		}, want: []string{"route_quorum 0"}},
		{name: "a route ahead of what it cannot meet", after: func(c *config.Config) {
			c.Routes = slices.Insert(c.Routes, 0, config.RouteRule{
				Match: config.Match{Tool: "read_*"}, Chats: []config.Chat{{ID: 1}}, Owners: []int64{1}, Quorum: 1,
			})
		}, back: []string{"route_owners ", "route_chats "}},
		{name: "a route behind that never counts", after: func(c *config.Config) {
			c.Routes = append(c.Routes, config.RouteRule{Match: config.Match{Tool: "send_sms"}, Chats: []config.Chat{{ID: -6}}, Quorum: 1})
		}},
		{name: "a narrower match", after: func(c *config.Config) { route(c, 1).Match.Tool = "send_mail" }, want: []string{"route_quorum ", "route_chats "}, back: []string{"route_chats 1"}},
		{name: "a route turned before another", before: func(c *config.Config) {
			c.Routes = []config.RouteRule{
				{Match: config.Match{Runtime: "iris*"}, Chats: []config.Chat{{ID: -5}}, Quorum: 2}, {Match: config.Match{Tool: "trash_*"}, Chats: []config.Chat{{ID: -5}}, Quorum: 1},
			}
		}, after: func(c *config.Config) {
			c.Routes = []config.RouteRule{
				{Match: config.Match{Tool: "trash_*"}, Chats: []config.Chat{{ID: -5}}, Quorum: 1}, {Match: config.Match{Runtime: "iris*"}, Chats: []config.Chat{{ID: -5}}, Quorum: 2},
			}
		}, want: []string{"route_quorum 0"}},
		{name: "another stream", after: func(c *config.Config) {
			c.Redis.Streams = append(c.Streams(), config.Stream{Key: "{approvals}:more", Runtimes: []string{"iris"}, IDs: "*"})
		}, want: []string{"stream_wider 1"}},
		{name: "more runtimes", before: func(c *config.Config) {
			c.Redis.Streams = []config.Stream{{Key: "k", Runtimes: []string{"iris-*"}, IDs: "iris.*"}}
		}, after: func(c *config.Config) {
			c.Redis.Streams = []config.Stream{{Key: "k", Runtimes: []string{"iris*"}, IDs: "iris.*"}}
		}, want: []string{"stream_wider 0"}},
		{name: "more ids", before: func(c *config.Config) {
			c.Redis.Streams = []config.Stream{{Key: "k", Runtimes: []string{"iris-*"}, IDs: "iris.*"}}
		}, after: func(c *config.Config) {
			c.Redis.Streams = []config.Stream{{Key: "k", Runtimes: []string{"iris-*"}, IDs: "i*"}}
		}, want: []string{"stream_wider 0"}},
		{name: "halts", before: func(c *config.Config) { c.Confirm.Halts = config.HaltsTwoStep }, after: func(*config.Config) {}, want: []string{"halts_one_tap "}},
		{name: "unseen lines", before: func(c *config.Config) { c.Confirm.Unseen = config.UnseenRefuse }, after: func(*config.Config) {}, want: []string{"unseen_allowed "}},
		{name: "a shorter dwell", after: func(c *config.Config) { c.Confirm.Dwell = 0 }, want: []string{"dwell_shorter "}},
		{name: "unmasked", after: func(c *config.Config) { c.Redact = false }, want: []string{"unmasked "}},
		{name: "what is not counted", after: func(c *config.Config) {
			c.Telegram.Limits, c.Replies.Approve = config.Limits{}, []string{"fine"}
			c.Expiry.Max, c.Confirm.Window = time.Hour, 10*time.Minute
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := desk()
			if tt.before != nil {
				tt.before(&before)
			}
			after := desk()
			tt.after(&after)
			told(t, "there", before, after, tt.want)
			told(t, "back", after, before, tt.back)
			told(t, "to itself", after, after, nil)
		})
	}
}

// told compares two configurations, one of them as it comes out of JSON.
func told(t *testing.T, way string, before, after config.Config, want []string) {
	t.Helper()
	text, err := json.Marshal(before.Rights())
	if err != nil {
		t.Fatal(err)
	}
	var kept config.Rights
	if err := json.Unmarshal(text, &kept); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range config.Looser(kept, after.Rights()) {
		got = append(got, l.Code+" "+l.Of)
		if l.What == "" {
			t.Errorf("%s has no sentence", l.Code)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q\n%+v", way, got, want, config.Looser(kept, after.Rights()))
	}
}
