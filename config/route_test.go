package config_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign/config"
)

// desk has two owners, a reader, and a route for each of the questions below.
func desk() config.Config {
	c := config.Default()
	c.Telegram.Token = config.NewSecret("42:AA")
	c.People = []config.Person{
		{ID: 1, Name: "Ann", Role: config.RoleOwner},
		{ID: 2, Name: "Ben", Role: config.RoleReader},
		{ID: 3, Name: "Cleo", Role: config.RoleOwner},
	}
	c.Routes = []config.RouteRule{
		{Match: config.Match{Runtime: "iris*", Tool: "trash_*", Kind: config.KindToolCall, Tier: "destroy"}, Chats: []config.Chat{{ID: -5, Thread: 7}}, Owners: []int64{3}, Quorum: 1},
		{Match: config.Match{Tool: "send_*"}, Chats: []config.Chat{{ID: -6}}, Quorum: 2},
		{Match: config.Match{Kind: config.KindHalt}, Quorum: 1},
	}
	return c
}

func TestRoute(t *testing.T) {
	c := desk()
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	trash := config.Route{Chats: []config.Chat{{ID: -5, Thread: 7}}, Owners: []int64{3}, Quorum: 1}
	send := config.Route{Chats: []config.Chat{{ID: -6}}, Owners: []int64{1, 3}, Quorum: 2}
	direct := config.Route{Chats: []config.Chat{{ID: 1}, {ID: 3}}, Owners: []int64{1, 3}, Quorum: 1}
	tests := []struct {
		name          string
		runtime, kind string
		tools         []string
		tier          string
		want          config.Route
		index         int
	}{
		{"all of a match fit", "iris-mail", "tool_call", []string{"trash_emails"}, "destroy", trash, 0},
		{"all of several calls fit", "iris", "tool_call", []string{"trash_a", "trash_b"}, "destroy", trash, 0},
		{"one of several calls does not fit", "iris", "tool_call", []string{"trash_a", "send_b"}, "destroy", direct, -1},
		{"another runtime", "hal", "tool_call", []string{"trash_a"}, "destroy", direct, -1},
		{"another tier", "iris", "tool_call", []string{"trash_a"}, "act", direct, -1},
		{"no owners given: every owner", "hal", "tool_call", []string{"send_email"}, "outreach", send, 1},
		{"no chats: unroutable", "hal", "halt", nil, "destroy", config.Route{Owners: []int64{1, 3}, Quorum: 1}, 2},
		{"a halt has no tool", "iris", "halt", []string{}, "destroy", config.Route{Owners: []int64{1, 3}, Quorum: 1}, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, index := c.Route(tt.runtime, tt.kind, tt.tools, tt.tier)
			if diff := cmp.Diff(tt.want, got); diff != "" || index != tt.index {
				t.Errorf("index %d, want %d; route (-want +got):\n%s", index, tt.index, diff)
			}
		})
	}
}

func TestRouteIsTheCallersOwn(t *testing.T) {
	c := desk()
	got, _ := c.Route("iris", "tool_call", []string{"trash_a"}, "destroy")
	got.Chats[0].ID, got.Owners[0] = 99, 99
	if diff := cmp.Diff(desk(), c); diff != "" {
		t.Errorf("the configuration changed (-want +got):\n%s", diff)
	}
}

func TestPolicy(t *testing.T) {
	c := desk()
	c.Policies = []config.Policy{
		{Match: config.Match{Runtime: "abstract*", Tool: "read_*"}, Notify: config.NotifyNone},
		{Match: config.Match{Runtime: "abstract*"}, Notify: config.NotifySilent},
	}
	tests := []struct {
		runtime string
		tools   []string
		want    int
	}{
		{"abstract", []string{"read_a", "read_b"}, 0},
		{"abstract", []string{"read_a", "send_b"}, 1},
		{"iris", []string{"read_a"}, -1},
	}
	for _, tt := range tests {
		if _, got := c.Policy(tt.runtime, config.KindToolCall, tt.tools); got != tt.want {
			t.Errorf("Policy(%s, %v) is number %d, want %d", tt.runtime, tt.tools, got, tt.want)
		}
	}
}

func TestPeople(t *testing.T) {
	c := desk()
	for _, tt := range []struct {
		id    int64
		name  string
		owner bool
	}{{1, "Ann", true}, {2, "Ben", false}, {4, "", false}, {0, "", false}} {
		person, ok := c.Person(tt.id)
		if person.Name != tt.name || ok != (tt.name != "") || c.Owner(tt.id) != tt.owner {
			t.Errorf("%d is %+v (%v), owner %v; want %q, owner %v", tt.id, person, ok, c.Owner(tt.id), tt.name, tt.owner)
		}
	}
}

func TestStreamFor(t *testing.T) {
	c := desk()
	c.Redis.Namespace = "desk"
	if got, ok := c.StreamFor("any"); !ok || got.Key != "{desk}:requests" {
		t.Errorf("without streams: %+v, %v", got, ok)
	}
	c.Redis.Streams = []config.Stream{
		{Key: "a", Runtimes: []string{"iris*", "hal"}, IDs: "*"},
		{Key: "b", Runtimes: []string{"*-mail"}, IDs: "*"},
	}
	for runtime, want := range map[string]string{"hal": "a", "iris-mail": "a", "my-mail": "b", "other": ""} {
		if got, ok := c.StreamFor(runtime); got.Key != want || ok != (want != "") {
			t.Errorf("StreamFor(%s) is %q, %v; want %q", runtime, got.Key, ok, want)
		}
	}
}
