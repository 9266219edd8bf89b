package setup

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"countersign/config"
	"countersign/telegram"
)

const (
	// lookFor is how long one look at the updates waits for a new one.
	lookFor = 10 * time.Second
	// lookEvery spaces looks that find what was seen before.
	lookEvery = time.Second
	// mostWaiting is how many updates a look can see.
	mostWaiting = 100
)

// askOwner learns who is to approve.
func (g *guide) askOwner() error {
	g.say("")
	g.say("2. You, the owner who is to approve. Open this on your phone or here, and press Start:")
	g.say("   https://t.me/%s?start=%s", g.me.Username, g.Code)
	g.say("   Or find @%s in Telegram and send it this code: %s", g.me.Username, g.Code)
	seen := map[int64]bool{}
	for {
		var who *telegram.User
		if g.deaf == "" {
			g.say("Waiting for the code ...")
			var err error
			if who, err = g.await(seen); err != nil {
				return err
			}
		}
		var taken bool
		var err error
		switch {
		case who != nil:
			taken, err = g.accept(who.ID, who.Name())
		case g.deaf != "":
			g.say("%s, so the code cannot come here.", g.deaf)
			g.deaf = "" // it may be mended by the next look
			taken, err = g.byHand("Press Enter to look again, or type your numeric Telegram id")
		default:
			g.say("Nobody sent the code.")
			taken, err = g.byHand("Press Enter to wait on, or type your numeric Telegram id")
		}
		if err != nil || taken {
			return err
		}
	}
}

// accept asks whether somebody is the one. A name that cannot stand on cards is asked for.
func (g *guide) accept(id int64, name string) (bool, error) {
	yes, err := g.confirm("Shall "+visible(name)+" (id "+strconv.FormatInt(id, 10)+") approve what agents want to do?", true)
	if err != nil || !yes {
		return false, err
	}
	return g.named(id, name)
}

// named keeps the owner, under a name that can stand on cards.
func (g *guide) named(id int64, name string) (bool, error) {
	for {
		g.owner = config.Person{ID: id, Name: strings.TrimSpace(name), Role: config.RoleOwner}
		c := config.Default()
		c.Telegram.Token, c.People = config.NewSecret(g.token), []config.Person{g.owner}
		err := c.Validate()
		if err == nil {
			return true, nil
		}
		var mistakes *config.Error
		if errors.As(err, &mistakes) {
			for _, p := range mistakes.Problems {
				g.say("%s", p.Text)
				if p.Key == "people[0].id" {
					return false, nil
				}
			}
		}
		if name, err = g.ask("The name that cards show", ""); err != nil {
			return false, err
		}
	}
}

// byHand takes an id that is typed; nothing typed is no answer.
func (g *guide) byHand(prompt string) (bool, error) {
	line, err := g.ask(prompt, "")
	if err != nil || line == "" {
		return false, err
	}
	id, err := strconv.ParseInt(line, 10, 64)
	if err != nil {
		g.say("That is no numeric id.")
		return false, nil
	}
	g.say("The bot can write to you only once you have pressed Start.")
	name, err := g.ask("The name that cards show", "")
	if err != nil {
		return false, err
	}
	return g.named(id, name)
}

// await looks at what is sent to the bot until somebody sends the code. It returns nil
// where nobody did in time, or where nothing more can come; deaf then says why.
func (g *guide) await(seen map[int64]bool) (*telegram.User, error) {
	ctx, cancel := context.WithTimeout(g.ctx, g.WaitFor)
	defer cancel()
	named := map[int64]bool{}
	for {
		updates, err := g.bot.Peek(ctx, lookFor, mostWaiting)
		switch e, _ := errors.AsType[*telegram.Error](err); {
		case g.ctx.Err() != nil:
			return nil, g.ctx.Err()
		case ctx.Err() != nil:
			return nil, nil
		case e != nil && e.Kind == telegram.Conflict:
			g.deaf = "Another program takes what is sent to this bot (stop it, or make a bot of its own)"
			return nil, nil
		case err != nil:
			g.say("Telegram does not answer: %v. Trying again.", err)
		}
		for _, raw := range updates {
			if seen[raw.ID] {
				continue
			}
			seen[raw.ID] = true
			who, coded := g.sender(raw)
			switch {
			case coded:
				return who, nil
			case who != nil && !named[who.ID]:
				named[who.ID] = true
				g.say("%s (id %d) wrote to the bot, but not the code.", visible(who.Name()), who.ID)
			}
		}
		if len(updates) >= mostWaiting {
			g.deaf = "More waits for this bot from before than can be looked at"
			return nil, nil
		}
		if !pause(ctx, lookEvery) && g.ctx.Err() == nil {
			return nil, nil
		}
	}
}

// sender is who wrote an update in a direct chat, and whether it is the code. It is nil
// for whatever is not a person's own words.
func (g *guide) sender(raw telegram.RawUpdate) (who *telegram.User, coded bool) {
	u, err := telegram.Decode(raw.Raw)
	if err != nil || u.Message == nil {
		return nil, false
	}
	m := u.Message
	if m.From == nil || m.From.IsBot || !m.Chat.Private() || m.Chat.ID != m.From.ID || m.Forwarded || m.ViaBot ||
		m.SenderChat != 0 || m.Business != "" || m.Guest != "" {
		return nil, false
	}
	text := strings.TrimSpace(strings.TrimPrefix(m.Text, "/start "))
	return m.From, strings.EqualFold(text, g.Code) // a phone makes the first letter a capital
}

// pause waits, and reports false where ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// visible is a name as a terminal may show it: whoever writes to the bot chooses it.
func visible(name string) string {
	quoted := strconv.QuoteToGraphic(name)
	if quoted = quoted[1 : len(quoted)-1]; quoted != "" {
		return quoted
	}
	return "somebody without a name"
}
