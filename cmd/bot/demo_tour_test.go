package main

// The stops of a tour: what each sample and each fault is there to show.

// lapse begins what lapsed ends: the request is left alone meanwhile.
func (g *guide) lapse() {
	g.be(demoAnn, demoAnn)
	g.ask("brief", "On my way")
}

func (g *guide) lapsed() {
	g.be(demoAnn, demoAnn)
	g.decided("brief", "lapsed")
	g.sees("⌛ Lapsed")
	g.sees("nothing was changed, sent or deleted") // the notice
}

func (g *guide) undo() {
	g.be(demoAnn, demoAnn)
	g.ask("trash", "Trash 3 emails")
	g.tap("Trash 3 emails", "Trash 3 emails", "Ann, tap Yes")
	g.tap("Trash 3 emails", "Yes", "Approved by Ann")
	g.decided("trash", "approved")
	g.tap("Approved by Ann", "Undo", "Undone")
}

func (g *guide) reject() {
	g.ask("mail", "Send an email")
	g.tap("Send an email", "Exact call", `"subject"`)
	g.tap("Send an email", "Reject", "Rejected by Ann")
	g.decided("mail", "rejected")
}

func (g *guide) secondOwner() {
	g.be(demoOlga, demoOlga)
	g.ask("event", "No undo is known")
	g.tap("No undo is known", "Delete the event", "Olga, tap Yes")
	g.tap("No undo is known", "Yes", "Approved by Olga")
	g.decided("event", "approved")
}

// halt is answered with one tap.
func (g *guide) halt() {
	g.be(demoAnn, demoAnn)
	g.ask("halt", "Let the nightly clean-up go on?")
	g.tap("Let the nightly clean-up", "Approve", "Approved by Ann")
	g.decided("halt", "approved")
}

// many has more lines than were opened, and two that fail.
func (g *guide) many() {
	g.ask("many", "Archive 308 emails")
	g.tap("Archive 308 emails", "▶", "page 2 of")
	g.tap("Archive 308 emails", "Archive 308 emails", "You have not opened the pages with")
	g.tap("Archive 308 emails", "Yes", "Partly done")
	g.decided("many", "approved")
}

// quorum needs both owners; others may not answer.
func (g *guide) quorum() {
	g.be(demoBen, demoPayments)
	g.ask("payment", "none has approved yet")
	g.refused("Pay invoice", "Pay 4,800", "not answer it")
	g.be(demoSam, demoPayments)
	g.refused("Pay invoice", "Reject", "does not know you")
	g.be(demoAnn, demoPayments)
	g.tap("Pay invoice", "Pay 4,800", "Ann, tap Yes")
	g.tap("Pay invoice", "Yes", "1 of 2: Ann")
	g.be(demoOlga, demoPayments)
	g.tap("Pay invoice", "Pay 4,800", "Olga, tap Yes")
	g.tap("Pay invoice", "Yes", "2 of 2: Ann, Olga")
	g.decided("payment", "approved")
}

// hostile shows what is hidden, and its action is one of ours by no look of it.
func (g *guide) hostile() {
	g.be(demoAnn, demoAnn)
	g.ask("hostile", "1 file &")
	g.tap("1 file &", "Approve: Yes, it is safe", "Ann, tap Yes")
	g.tap("1 file &", "Cancel", "Reply approve")
	g.tap("1 file &", "Reject", "Rejected by Ann")
	g.decided("hostile", "rejected")
}

func (g *guide) malformed() {
	g.must(g.v.press(g.ctx, "malformed"), "press malformed")
	g.decided("malformed", "refused")
}

func (g *guide) slow() {
	g.be(demoAnn, demoAnn)
	g.strike(faultSlow)
	g.part("Telegram", "slow")
	g.ask("mail", "Send an email")
	g.strike(faultSlow)
	g.part("Telegram", "up")
}

// flood keeps cards away for a while.
func (g *guide) flood() {
	g.strike(faultFlood)
	g.part("Telegram", "answers 429")
	g.must(g.v.press(g.ctx, "event"), "press event")
	g.part("Telegram", "up") // by itself
	g.asked("Quarterly review")
}

// block takes the bot away from Ann. Olga answers meanwhile, which Ann's card shows as
// soon as it can, and Ann is asked again.
func (g *guide) block() {
	g.be(demoAnn, demoAnn)
	g.strike(faultBlock)
	g.part("Ann", "has blocked the bot")
	g.be(demoOlga, demoOlga)
	g.tap("Quarterly review", "Reject", "Rejected by Olga")
	g.be(demoAnn, demoAnn)
	g.strike(faultBlock)
	g.sees("Rejected by Olga")
	g.ask("trash", "Trash 3 emails")
}

func (g *guide) redis() {
	g.strike(faultRedis)
	g.part("Redis", "down")
	g.part("Redis", "up") // by itself
	g.ask("hostile", "1 file &")
}

// kill ends the bot in the middle of it all. What was asked and tapped meanwhile counts
// as soon as it is there again.
func (g *guide) kill() {
	g.ask("brief", "On my way")
	g.strike(faultKill)
	g.part("Bot", "down")
	g.must(g.v.press(g.ctx, "event"), "press event")
	g.strike(faultKill)
	g.part("Bot", "up")
	g.must(g.v.happened(g.ctx, "Everything has caught up"), "catch up")
	g.asked("Quarterly review")
}
