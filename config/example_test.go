package config_test

import (
	"reflect"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign"
	"countersign/config"
)

func TestExampleHoldsTheDefaults(t *testing.T) {
	got, err := config.Parse("config.example.yaml", countersign.ExampleConfig(), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := config.Default()
	want.Telegram.TokenFile = "/run/secrets/telegram_token"
	want.People = []config.Person{
		{ID: 1001, Name: "Ann", Role: config.RoleOwner},
		{ID: 1002, Name: "Ben", Role: config.RoleReader},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("config.example.yaml (-want +got):\n%s", diff)
	}
}

// switchedOff is a line of an example that is switched off: a # with no space after it.
var switchedOff = regexp.MustCompile(`(?m)^( *)#(\S)`)

func TestExampleSwitchedOn(t *testing.T) {
	text := switchedOff.ReplaceAll(countersign.ExampleConfig(), []byte("$1$2"))
	got, err := config.Parse("config.example.yaml", text, nil)
	if err != nil {
		t.Fatal(err)
	}
	streams := []config.Stream{
		{Key: "{approvals}:requests", Runtimes: []string{"*"}, IDs: "*"},
		{Key: "iris:requests", Runtimes: []string{"iris*"}, IDs: "iris.*"},
	}
	if diff := cmp.Diff(streams, got.Redis.Streams); diff != "" {
		t.Errorf("redis.streams (-want +got):\n%s", diff)
	}
	routes := []config.RouteRule{{
		Match:  config.Match{Runtime: "iris*", Tool: "trash_*", Kind: config.KindToolCall},
		Chats:  []config.Chat{{ID: 1001}, {ID: -1001234567890, Thread: 7}},
		Owners: []int64{1001},
		Quorum: 1,
	}}
	if diff := cmp.Diff(routes, got.Routes); diff != "" {
		t.Errorf("routes (-want +got):\n%s", diff)
	}
	policies := []config.Policy{{
		Match:                  config.Match{Runtime: "abstract*"},
		RequireApprovalTools:   []string{"send_sms"},
		AutoApproveTools:       []string{"read_calendar"},
		AutoApproveMaxRiskRank: 2,
		Tools:                  map[string]config.ToolFact{"send_sms": {Facts: map[string]bool{"comms_send": true}}},
		OperatorEmail:          "me@example.org",
		EmailAllowedRecipients: []string{"self"},
		Notify:                 config.NotifySilent,
	}}
	if diff := cmp.Diff(policies, got.Policies); diff != "" {
		t.Errorf("policies (-want +got):\n%s", diff)
	}
}

func TestExampleNamesEveryKey(t *testing.T) {
	text := countersign.ExampleConfig()
	for _, key := range keys(reflect.TypeFor[config.Config]()) {
		if !regexp.MustCompile(`\b` + key + `:`).Match(text) {
			t.Errorf("config.example.yaml does not mention %s", key)
		}
	}
}

// keys lists every yaml key below a type.
func keys(t reflect.Type) []string {
	switch t.Kind() {
	case reflect.Slice, reflect.Map, reflect.Pointer:
		return keys(t.Elem())
	case reflect.Struct:
		var all []string
		for field := range t.Fields() {
			if key := field.Tag.Get("yaml"); key != "" {
				all = append(append(all, key), keys(field.Type)...)
			}
		}
		slices.Sort(all)
		return slices.Compact(all)
	}
	return nil
}
