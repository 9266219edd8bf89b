package simulator_test

import (
	"testing"

	"countersign/simulator"
)

// An app shows the commands of the narrowest scope, as Telegram's do.
func TestSnapshotHasTheCommandsOfEachChat(t *testing.T) {
	w := newWorld(t)
	set := func(name string, scope params) {
		p := params{"commands": []params{{"command": name, "description": "x"}}}
		if scope != nil {
			p["scope"] = scope
		}
		must[bool](w, "setMyCommands", p)
	}
	offered := func(viewer, chat int64) string {
		for _, c := range w.Snapshot(viewer, 1).Chats {
			if c.Chat.ID == chat && len(c.Commands) > 0 {
				return c.Commands[0].Command
			}
		}
		return ""
	}
	steps := []struct {
		name         string
		scope        params
		viewer, chat int64
	}{
		{"everywhere", nil, annID, annID},
		{"everywhere", nil, annID, opsID},
		{"direct", params{"type": "all_private_chats"}, annID, annID},
		{"groups", params{"type": "all_group_chats"}, annID, opsID},
		{"admins", params{"type": "all_chat_administrators"}, annID, opsID},
		{"ops", params{"type": "chat", "chat_id": opsID}, annID, opsID},
		{"opsadmins", params{"type": "chat_administrators", "chat_id": opsID}, annID, opsID},
		{"ann", params{"type": "chat_member", "chat_id": opsID, "user_id": annID}, annID, opsID},
	}
	w.ops.Promote(annID, simulator.AllRights())
	for _, s := range steps {
		set(s.name, s.scope)
		if got := offered(s.viewer, s.chat); got != s.name {
			t.Errorf("with commands for %v: chat %d offers %q, want %q", s.scope, s.chat, got, s.name)
		}
	}
	w.ops.SetStatus(annID, simulator.Member)
	must[bool](w, "deleteMyCommands", params{"scope": params{"type": "chat_member", "chat_id": opsID, "user_id": annID}})
	if got := offered(annID, opsID); got != "ops" {
		t.Errorf("a member is offered %q, want %q", got, "ops")
	}
}

// A change of the commands is news for whoever looks.
func TestCommandsAreNews(t *testing.T) {
	w := newWorld(t)
	before := w.Snapshot(annID, 1).Seq
	must[bool](w, "setMyCommands", params{"commands": []params{{"command": "a", "description": "x"}}})
	must[bool](w, "deleteMyCommands", nil)
	changes, _ := w.Changes(before)
	for _, c := range changes {
		if c.Kind != simulator.ChatChanged {
			t.Errorf("change %+v", c)
		}
	}
	if len(changes) != 2 {
		t.Errorf("%d changes, want 2", len(changes))
	}
}
