package deploy_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A bot that is sent SIGHUP takes a good file, and of a bad one nothing: it says where
// the mistake is, and goes on as before.
func TestReload(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	if s == nil {
		return
	}
	s.prepare()
	s.ann.Start()
	file := filepath.Join(s.dir, "countersign.yaml")
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	bot := s.bot("bot-1")
	said := 0
	// hup has the bot read a file, and waits until it says so much in its log.
	hup := func(text, want string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := bot.cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		s.until(func() bool { return strings.Contains(s.log("bot-1")[said:], want) })
		said = len(s.log("bot-1"))
	}
	const kept, taken = "the new configuration is not taken; nothing changed", "people, routes, policies and limits were read again"
	sam := fmt.Sprintf("people: [{id: %d, name: Ann, role: owner}, {id: %d, name: Sam, role: owner}]", annID, samID)
	ann := fmt.Sprintf("people: [{id: %d, name: Ann, role: owner}]", annID)
	both := strings.Replace(string(good), ann, sam, 1)
	if both == string(good) {
		t.Fatalf("no people in %s", good)
	}

	for i, bad := range []struct{ text, key string }{
		{strings.Replace(both, "role: owner}]", "role: boss}]", 1), "people[1].role"},
		{strings.Replace(both, "confirm:", "confrim:", 1), "confrim"},
		{both + "routes: [{chats: [{id: 1001}], quorum: 3}]\n", "routes[0].quorum"},
		{both + "policies: [{auto_approve_max_risk_rank: 5}]\n", "policies[0].auto_approve_max_risk_rank"},
		{"people: [", "countersign.yaml:1"},
		{"", "people"},
	} {
		before := said
		hup(bad.text, kept)
		log := s.log("bot-1")[before:]
		if !strings.Contains(log, bad.key) || !strings.Contains(log, "countersign.yaml") {
			t.Errorf("bad file %d: the log names no %s:\n%s", i, bad.key, log)
		}
		if strings.Contains(log, taken) {
			t.Errorf("bad file %d was taken:\n%s", i, log)
		}
		if err := os.WriteFile(file, good, 0o600); err != nil { // for the command line
			t.Fatal(err)
		}
		s.requests(fmt.Sprintf("still-%d", i)) // comes to Ann
		if n := len(s.sim.BotMessages(samID)); n != 0 {
			t.Fatalf("bad file %d: Sam has %d messages", i, n)
		}
	}

	s.sam.Start()
	hup(both, taken)
	s.requests("now")
	s.until(func() bool {
		heard := map[string]bool{}
		for _, m := range s.sim.BotMessages(samID) {
			heard["card"] = heard["card"] || strings.Contains(m.Text, "Do now\n")
			heard["told"] = heard["told"] || strings.Contains(m.Text, fmt.Sprintf("Sam (%d) is an owner now", samID))
		}
		return heard["card"] && heard["told"]
	})
	s.until(func() bool {
		return strings.Contains(s.shell("countersign audit export"), fmt.Sprintf(`"looser":[{"code":"owner_added","of":"%d"}]`, samID))
	})
	if out := s.shell("countersign audit verify"); strings.Contains(out, "FAULT") {
		t.Error(out)
	}
}
