package delivery

import (
	"context"

	"countersign/approval"
	"countersign/store"
)

// meddled sees to an approval whose seal does not hold: it is refused, of which the
// store tells every owner; or, where it was answered before somebody changed it,
// they are told that. It reports whether to read it again.
func (r *Reconciler) meddled(ctx context.Context, reading *store.Reading) (bool, error) {
	status, _, err := r.cfg.Store.Refuse(ctx, reading)
	switch {
	case err != nil:
		return false, err
	case status == store.Meddled:
		r.cfg.Log.Error().Str("approval", reading.ID).Str("seal", string(reading.Row.Seal)).
			Msg("the seal of an approval does not hold; it was refused")
		r.cfg.Count("answers", string(approval.DecisionRefused), string(approval.Intake))
		return true, nil
	case status == store.Changed:
		return true, nil
	case reading.Row.Seal == approval.SealBroken && !reading.Row.RefusedBySeal():
		told, err := r.cfg.Store.TellTampered(ctx, reading)
		if told {
			r.cfg.Log.Error().Str("approval", reading.ID).Str("state", string(reading.Row.State)).
				Msg("an approval was changed by somebody else after it was answered; its answer stands")
		}
		return false, err
	}
	return false, nil
}
