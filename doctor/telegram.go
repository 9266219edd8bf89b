package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"countersign/config"
	"countersign/telegram"
)

// PollFor is how long it is waited for another poller to show.
const PollFor = 6 * time.Second

// token asks Telegram whose it is. Where it does not answer, nothing else is asked there.
func (e *examination) token(ctx context.Context) {
	me, err := e.Telegram.Me(ctx)
	switch {
	case err == nil:
		e.me = &me
		e.good(CheckToken, "it is that of @"+me.Username)
	case kind(err) == telegram.Unauthorized:
		e.fault(CheckToken, "Telegram refuses it", "get a valid one from @BotFather, and see that telegram.api_url is right")
	default:
		e.fault(CheckToken, fmt.Sprintf("Telegram cannot be asked: %v", err),
			"see that this machine reaches "+e.Config.Telegram.APIURL+", by its proxy too")
	}
}

// kind is what an error of the Bot API is, 0 for none of its.
func kind(err error) telegram.Kind {
	if e, ok := errors.AsType[*telegram.Error](err); ok {
		return e.Kind
	}
	return 0
}

// webhook looks at whose it is.
func (e *examination) webhook(ctx context.Context) {
	if e.me == nil {
		return
	}
	info, err := e.Telegram.WebhookInfo(ctx)
	if err != nil {
		e.warn(CheckWebhook, fmt.Sprintf("Telegram does not tell whether one is set: %v", err), "run doctor again")
		return
	}
	e.hook = &info
	hooked := e.Config.Telegram.Mode == config.ModeWebhook
	mine := e.Config.Telegram.Webhook.PublicURL
	switch {
	case info.URL == "" && hooked && e.serving():
		e.hookOurs = true
		e.warn(CheckWebhook, "none is set, though a bot runs: taps do not arrive", "it sets one within a minute; else see its log")
	case info.URL == "":
		e.hookOurs = true
		e.good(CheckWebhook, "none is set"+map[bool]string{true: " yet; the bot sets it"}[hooked])
	case info.URL == mine && hooked:
		e.hookOurs = true
		e.delivered(info)
	case info.URL == mine || e.knownHook(ctx, info.URL):
		e.hookOurs = true
		e.good(CheckWebhook, "one of the bot's own is set from before; the bot changes it when it starts")
	default:
		e.fault(CheckWebhook, "another system's is set, at "+host(info.URL)+": it takes the taps and words that are meant for this bot",
			"get a bot of its own from @BotFather; or, if that system is no more, call deleteWebhook with this token")
	}
}

// serving reports whether a bot is known to serve the queue.
func (e *examination) serving() bool { return e.present != nil && e.present.Alive }

// knownHook reports whether the bot once set a webhook itself.
func (e *examination) knownHook(ctx context.Context, address string) bool {
	if !e.redisUp {
		return false
	}
	text, err := e.Store.Setting(ctx, e.HookSetting)
	return err == nil && slices.Contains(strings.Fields(text), address)
}

// delivered looks at how deliveries to the bot's own webhook go.
func (e *examination) delivered(info telegram.WebhookInfo) {
	if info.Pending > 0 && info.LastError != "" {
		e.fault(CheckWebhook, fmt.Sprintf("Telegram cannot deliver: %s (%d updates wait)", info.LastError, info.Pending),
			"see that Telegram reaches telegram.webhook.public_url, with a certificate that it accepts")
		return
	}
	e.good(CheckWebhook, "it is the bot's own")
}

// host is all that is shown of another's webhook: its path may be a secret.
func host(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return "an address that cannot be read"
	}
	return u.Host
}

// updates looks at the kinds that Telegram delivers. Nothing listed is Telegram's
// default, which has all that are needed.
func (e *examination) updates(context.Context) {
	if e.hook == nil {
		return
	}
	var lacking []string
	for _, kind := range telegram.NeededUpdates() {
		if len(e.hook.AllowedUpdates) > 0 && !slices.Contains(e.hook.AllowedUpdates, kind) {
			lacking = append(lacking, kind)
		}
	}
	switch {
	case len(lacking) == 0:
		e.good(CheckUpdates, "Telegram delivers all kinds that are needed")
	case e.serving():
		e.fault(CheckUpdates, "Telegram does not deliver "+strings.Join(lacking, ", ")+", though a bot runs: another program changed it",
			"let nothing else use this token, and restart the bot, which asks for what it needs")
	default:
		e.warn(CheckUpdates, "Telegram does not deliver "+strings.Join(lacking, ", ")+": another program asked it to",
			"start the bot, which asks for what it needs; until then such taps and words are lost")
	}
}

// poller looks whether something else takes the updates. A bot that serves the queue is
// left alone: what it hears of another poller is in what it says of itself.
func (e *examination) poller(ctx context.Context) {
	if e.me == nil || e.Config.Telegram.Mode != config.ModePolling || e.hook == nil || e.hook.URL != "" {
		return
	}
	switch {
	case e.present == nil:
		e.warn(CheckPoller, "it is not looked for, since it is not known whether the bot itself runs", "see what the lines above say of Redis")
		return
	case e.present.Alive:
		return
	}
	_, err := e.Telegram.Peek(ctx, PollFor, 1)
	switch {
	case err == nil:
		e.good(CheckPoller, "nothing else takes this bot's updates")
	case kind(err) == telegram.Conflict:
		e.fault(CheckPoller, "another program polls with this token: taps go there, or here, as it happens",
			"stop it, or get a bot of its own from @BotFather")
	default:
		e.warn(CheckPoller, fmt.Sprintf("it is not known whether something else polls: %v", err), "run doctor again")
	}
}

// privacy compares privacy mode with what is typed in groups.
func (e *examination) privacy(context.Context) {
	if e.me == nil {
		return
	}
	groups := false
	for _, route := range e.Config.Routes {
		groups = groups || slices.ContainsFunc(route.Chats, func(c config.Chat) bool { return c.ID < 0 })
	}
	switch {
	case !groups:
		e.good(CheckPrivacy, "no group is asked")
	case e.me.CanReadAllGroupMessages:
		e.warn(CheckPrivacy, "it is off: the bot is sent every word of its groups, and needs none but those to it",
			"turn it on with /setprivacy at @BotFather, then remove the bot from each group and add it again")
	default:
		e.good(CheckPrivacy, "it is on: in groups arrive taps, replies to a card, and commands such as /approve@"+e.me.Username)
	}
}
