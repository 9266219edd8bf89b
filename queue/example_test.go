package queue_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"countersign/approval"
	"countersign/queue"
	"countersign/store"
)

// A runtime asks before it deletes, waits for the answer, claims what was
// approved and runs it.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	rdb, stop := bot(ctx)
	defer stop()

	client := queue.NewClient(rdb, "approvals")
	request, err := queue.Ask{
		ID: "mail-1", Runtime: "iris", Tool: "trash_emails", Arguments: []byte(`{"ids":["m1","m2"]}`),
		Card: queue.AskCard{Title: "Trash 2 emails", Lines: []string{"Invoice from Acme", "Weekly news"}},
	}.Request()
	if err != nil {
		fmt.Println(err)
		return
	}
	pending, err := client.Request(ctx, request)
	if err != nil {
		fmt.Println(err) // nobody would be asked: do not wait
		return
	}
	answer, err := client.Await(ctx, pending)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer.Decision, "by", answer.By.Name)
	if answer.Decision != approval.DecisionApproved {
		return
	}
	if err := client.Claim(ctx, pending.ID, pending.Pin, "worker-1"); err != nil {
		fmt.Println(err) // somebody else runs it
		return
	}
	for _, call := range answer.Calls {
		fmt.Println("run", call.Tool, string(call.Arguments))
	}
	fmt.Println(client.Claim(ctx, pending.ID, pending.Pin, "worker-2"))

	// Output:
	// approved by Ann
	// run trash_emails {"ids":["m1","m2"]}
	// claim of mail-1: already_claimed
}

// bot serves an embedded queue on which Ann approves whatever is asked.
func bot(ctx context.Context) (rdb redis.UniversalClient, stop func()) {
	server, err := miniredis.Run()
	if err != nil {
		panic(err)
	}
	rdb = redis.NewClient(&redis.Options{Addr: server.Addr()})
	rows, err := store.New(rdb, store.Options{Namespace: "approvals", Retention: 30 * 24 * time.Hour, Random: rand.Reader})
	if err != nil {
		panic(err)
	}
	intake, err := queue.NewIntake(queue.IntakeConfig{
		Redis: rdb, Store: rows, Namespace: "approvals", Consumer: "example", Retention: 30 * 24 * time.Hour,
		Router: func() queue.Router {
			return &router{route: queue.Route{Chats: []approval.Chat{{ID: 1001}}, Owners: []int64{1001}, Quorum: 1}}
		},
		Durations: func() approval.Durations { return approval.Durations{ToolCall: time.Hour, Max: time.Hour} },
		Remind:    func() time.Duration { return 0 },
		Owners:    func() []int64 { return []int64{1001} },
		Glob:      glob,
	})
	if err != nil {
		panic(err)
	}
	if err := rows.Alive(ctx, []string{rows.Keys().Requests()}); err != nil {
		panic(err)
	}
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		ann := approval.By{Surface: approval.CLI, ID: "ann", Name: "Ann"}
		for ctx.Err() == nil {
			_, _ = intake.Step(ctx)
			if r, err := rows.Read(ctx, "mail-1"); err == nil && r.Row != nil {
				_, _, _ = rows.Decide(ctx, r, store.Attempt{
					Decision: approval.DecisionApproved, Guard: store.ByOperator, By: ann,
				})
				return
			}
			<-time.After(time.Millisecond)
		}
	}()
	return rdb, func() {
		cancel()
		_ = rdb.Close()
		server.Close()
	}
}
