package cards_test

import (
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"countersign/approval"
	"countersign/cards"
)

// simple is an open row with one destructive call.
func simple() *approval.Row {
	return &approval.Row{
		ID: "a1", State: approval.Open, Ref: "K7QF2", Rev: 7, Pin: "sha256:ab12", OpenedAt: opened, ExpiresAt: closing, Quorum: 1,
		Request: &approval.Request{
			ID: "a1", Kind: approval.ToolCall, Runtime: "iris", Effect: approval.Destructive,
			Calls: []approval.Call{{Tool: "trash_emails", Arguments: []byte(`{"ids":[18]}`)}},
			Card:  approval.Card{Title: "Trash 3 emails", Lines: []string{"Alpha", "Beta", "Gamma"}},
		},
	}
}

// TestActionLabel: case, marks and lookalikes aside, no action begins with a word
// of ours.
func TestActionLabel(t *testing.T) {
	s := cards.Settings{ReplyWords: []string{"approve", "genehmigt", "reject", "nö", "取消", "👎"}}
	for _, c := range []struct{ action, want string }{
		{"Trash 3 emails", "Trash 3 emails"},
		{"", "Trash 3 emails"},
		{"Node upgrade", "Node upgrade"},
		{"Notify Bo", "Notify Bo"},
		{"Cancellation letter to Bo", "Cancellation letter to Bo"},
		{"Undock the laptop", "Undock the laptop"},
		{"احذف", "احذف"},
		{"Yes", "Approve: Yes"},
		{"no", "Approve: no"},
		{"REJECT all", "Approve: REJECT all"},
		{"Deny-list Bo", "Approve: Deny-list Bo"},
		{"Cancel_all", "Approve: Cancel_all"},
		{"undo: last", "Approve: undo: last"},
		{"Exact  call", "Approve: Exact  call"},
		{"Whole list of friends", "Approve: Whole list of friends"},
		{"Approve the invoice", "Approve: Approve the invoice"},
		{"genehmigt!", "Approve: genehmigt!"},
		{"No\u0308 danke", "Approve: No\u0308 danke"},
		{"  “Cancel”", "Approve:   “Cancel”"},
		{"🚫 Reject", "Approve: 🚫 Reject"},
		{"| Reject", "Approve: | Reject"},
		{"R\u0301eject", "Approve: R\u0301eject"},
		{"Ｎｏ", "Approve: Ｎｏ"},
		{"𝐘𝐞𝐬", "Approve: 𝐘𝐞𝐬"},
		{"Cаncеl", "Approve: Cаncеl"}, // Cyrillic a and e
		{"Cance1", "Approve: Cance1"},
		{"CanceI", "Approve: CanceI"},
		{"Cance|", "Approve: Cance|"},
		{"Ƴes", "Approve: Ƴes"},
		{"Ye\u200bs", `Approve: Ye\u200bs`},
		{"yes\nno", `Approve: yes\nno`},
		{"🅽🅾", "Approve: 🅽🅾"},
		{"◀", "Approve: ◀"},
		{"𑢤es", "Approve: 𑢤es"},             // Warang Citi
		{"ᖇeject", "Approve: ᖇeject"},       // Canadian syllabics
		{"ᎡᎬᎫᎬᏟᎢ", "Approve: ᎡᎬᎫᎬᏟᎢ"},       // Cherokee throughout
		{"ꓬꓰꓢ", "Approve: ꓬꓰꓢ"},             // Lisu throughout
		{"уеѕ", "Approve: уеѕ"},             // Cyrillic throughout
		{"尺乇丿乇匚丅", "Approve: 尺乇丿乇匚丅"},       // Han throughout
		{"丫乇丂", "Approve: 丫乇丂"},             // likewise
		{"ภ๏", "Approve: ภ๏"},               // Thai throughout
		{"sǝʎ", "Approve: sǝʎ"},             // upside down
		{"ʏᴇꜱ", "Approve: ʏᴇꜱ"},             // small capitals
		{"V\u0329es", "Approve: V\u0329es"}, // a mark that makes it a Y
		{"N\u20ddo\u20dd", "Approve: N\u20ddo\u20dd"},
		{"Y̸es", "Approve: Y̸es"},
		{"Y.e.s", "Approve: Y.e.s"},
		{"(Y)es", "Approve: (Y)es"},
		{"Y e s", "Approve: Y e s"},
		{"Re-ject all", "Approve: Re-ject all"},
		{"(ancel", "Approve: (ancel"},
		{"C@ncel", "Approve: C@ncel"},
		{"Y€s", "Approve: Y€s"},
		{"N。", "Approve: N。"},
		{"N°", "Approve: N°"},
		{"Yesǃ", "Approve: Yesǃ"},
		{"Yes1", "Approve: Yes1"},
		{"Yes①", "Approve: Yes①"},
		{"ⓃⓄ", "Approve: ⓃⓄ"},
		{"ᴺᵒ", "Approve: ᴺᵒ"},
		{"№ 5", "Approve: № 5"},
		{"Exactcall", "Approve: Exactcall"},
		{"uncl0", "Approve: uncl0"},
		{"Approved by Ann", "Approve: Approved by Ann"},
		{"✅ Approved", "Approve: ✅ Approved"},
		{"Don’t send it", "Approve: Don’t send it"},
		{"取消订单", "Approve: 取消订单"}, // a reply word, in a script without gaps
		{"👎 all", "Approve: 👎 all"},
		{"Löschen – 3 E-Mails", "Löschen – 3 E-Mails"},
		{"Đặt lịch họp", "Đặt lịch họp"},
		{"İptal et", "İptal et"},
		{"Wyślij e‑mail", "Approve: Wyślij e‑mail"}, // a special dash: in doubt
		{"Удалить 3 письма", "Удалить 3 письма"},
		{"Διαγραφή", "Διαγραφή"},
		{"Ջնջել", "Ջնջել"},
		{"מחק 3 הודעות", "מחק 3 הודעות"},
		{"שָׁלוֹם", "שָׁלוֹם"},
		{"می\u200cخواهم", "می\u200cخواهم"},
		{"ईमेल हटाएँ", "ईमेल हटाएँ"},
		{"क्\u200dष", "क्\u200dष"},
		{"ลบอีเมล 3 ฉบับ", "ลบอีเมล 3 ฉบับ"},
		{"删除三封邮件", "删除三封邮件"},
		{"メールを3通削除", "メールを3通削除"},
		{"이메일 3통 삭제", "이메일 3통 삭제"},
		{"🗑 Trash 3 emails", "🗑 Trash 3 emails"},
		{"Pay 4,800 €", "Pay 4,800 €"},
		{"Delete “Quarterly review”…", "Delete “Quarterly review”…"},
		{"Email Иван", "Email Иван"},
		{"\u200b", `Approve: \u200b`},
	} {
		t.Run(c.action, func(t *testing.T) {
			row := simple()
			row.Request.Card.Action = c.action
			b := cards.Card(cards.View{Row: row, CardID: "c", Now: now}, s).Keyboard[0][0]
			if b.Text != c.want {
				t.Errorf("the action reads %q, want %q", b.Text, c.want)
			}
		})
	}
}

// drawings are, by lower-case letter, all characters that Unicode says stand for
// it, marks aside.
func drawings() map[rune][]rune {
	all := map[rune][]rune{}
	for c := rune(0x80); c <= unicode.MaxRune; c++ {
		base := []rune(strings.ToLower(norm.NFKD.String(string(c))))
		if len(base) == 0 || base[0] < 'a' || base[0] > 'z' {
			continue
		}
		if len(base) == 1 || unicode.In(base[1], unicode.M) {
			all[base[0]] = append(all[base[0]], c)
		}
	}
	return all
}

// TestNoDrawingOfOurWordsGoesBare draws words of ours with other characters, with
// marks, gaps and invisible characters between, and text of any kind after them.
func TestNoDrawingOfOurWordsGoesBare(t *testing.T) {
	ways := drawings()
	if len(ways['e']) < 20 {
		t.Fatalf("only %d ways to draw an e", len(ways['e']))
	}
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		b.WriteString(rapid.SampledFrom([]string{"", " ", "“", "🚫 ", "- ", "1. ", "\u200b", "|"}).Draw(t, "before"))
		for _, c := range rapid.SampledFrom([]string{"yes", "no", "reject", "deny", "cancel", "undo", "exact call", "whole list", "approve", "genehmigt"}).Draw(t, "word") {
			switch rapid.IntRange(0, 4).Draw(t, "way") {
			case 0:
				c = unicode.ToUpper(c)
			case 1:
				c = rapid.SampledFrom(append(ways[c], c)).Draw(t, "drawing")
			}
			b.WriteRune(c)
			b.WriteString(rapid.SampledFrom([]string{"", "", "", "\u0301", "\u20dd", "\u0338", "\u200b", "\u00ad", "-", ".", " ", "_", "·"}).Draw(t, "between"))
		}
		b.WriteString(rapid.SampledFrom([]string{"", " 3 emails", "!", ": all", "\n", "1"}).Draw(t, "after"))
		row := simple()
		row.Request.Card.Action = b.String()
		text := cards.Card(cards.View{Row: row, CardID: "c", Now: now}, cards.Settings{ReplyWords: []string{"genehmigt"}}).Keyboard[0][0].Text
		if !strings.HasPrefix(text, "Approve: ") {
			t.Fatalf("the action reads %q", text)
		}
	})
}
