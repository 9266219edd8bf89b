package queue

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/redis/go-redis/v9"

	"countersign/approval"
)

// A ClaimStatus is why a claim was refused. The checks are made in this order.
type ClaimStatus string

// Why a claim can be refused.
const (
	ClaimUnknown     ClaimStatus = "unknown"         // no such approval
	ClaimWrongStream ClaimStatus = "wrong_stream"    // asked by a stream not the caller's
	ClaimPinMismatch ClaimStatus = "pin_mismatch"    // another call was approved
	ClaimNotApproved ClaimStatus = "not_approved"    // open, or answered otherwise
	ClaimTaken       ClaimStatus = "already_claimed" // somebody has it, or it ran
)

// ClaimRefused is the error of a claim that Redis took and refused.
type ClaimRefused struct {
	ID     string
	Status ClaimStatus
}

// Error says for example "claim of a1: not_approved".
func (e *ClaimRefused) Error() string { return "claim of " + e.ID + ": " + string(e.Status) }

//go:embed claim.lua
var claimText string

// ClaimScript is the script that [Client.Claim] runs, for whoever claims by EVAL.
func ClaimScript() string { return claimText }

// Claim takes the right to run an approved call, once. The pin is the caller's
// own, computed from the call it is about to run, never the answer's. Where
// streams are given, an approval that came by another one is refused. A refusal
// is a [*ClaimRefused]; any other error leaves open whether the claim was made,
// and the call must not run.
func (c *Client) Claim(ctx context.Context, id, pin, by string, streams ...string) error {
	data, err := json.Marshal(struct {
		ID  string `json:"approval_id"`
		Pin string `json:"pin"`
		By  string `json:"by"`
	}{id, pin, by})
	if err != nil {
		return fmt.Errorf("queue: claim %q: %w", id, err)
	}
	if _, err := approval.DecodeClaim(data); err != nil {
		return fmt.Errorf("queue: claim %q: %w", id, err)
	}
	args := []any{c.keys.Row(id), pin, by, id + "/claimed", data}
	for _, s := range streams {
		args = append(args, s)
	}
	status, err := redis.NewScript(claimText).Run(ctx, c.rdb, []string{c.keys.Claim(id)}, args...).Text()
	if err != nil {
		return fmt.Errorf("queue: claim %q: %w", id, err)
	}
	if status != "ok" {
		return &ClaimRefused{ID: id, Status: ClaimStatus(status)}
	}
	return nil
}
