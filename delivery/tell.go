package delivery

import (
	"context"
	"errors"

	"countersign/cards"
	"countersign/telegram"
)

// tell renders a message and calls Telegram with it. Formatting that is refused
// goes again: without the time tag where the server does not know it, else as
// plain text with the same buttons. All of it takes no longer than one call may,
// and a stop does not cut it short: whatever Telegram has taken by then would be
// sent once more. It returns what was shown.
func (r *Reconciler) tell(ctx context.Context, id string, chat int64, s cards.Settings,
	render func(cards.Settings) cards.Message, call func(ctx context.Context, m cards.Message, plain bool) error,
) (cards.Message, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), CallTimeout)
	defer cancel()
	m := render(s)
	err := call(ctx, m, false)
	if e := refusedFormat(err); e != nil && e.TimeTag && s.TimeTag {
		if r.noTimeTag.CompareAndSwap(false, true) {
			r.cfg.Log.Warn().Msg("this Bot API server does not know <tg-time>; times are shown in the configured zone")
		}
		s.TimeTag = false
		m = render(s)
		r.cfg.Pace.Charge(chat)
		err = call(ctx, m, false)
	}
	if e := refusedFormat(err); e != nil {
		r.cfg.Log.Error().Err(e).Str("approval", id).Msg("Telegram refused our formatting; sent as plain text")
		r.cfg.Count("formatting_refused")
		r.cfg.Pace.Charge(chat)
		err = call(ctx, m, true)
	}
	return m, err
}

// refusedFormat is err if the same text goes through without formatting, else
// nil.
func refusedFormat(err error) *telegram.Error {
	var e *telegram.Error
	if errors.As(err, &e) && e.Kind == telegram.Parse {
		return e
	}
	return nil
}
