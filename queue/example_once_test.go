package queue_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"countersign/approval"
	"countersign/queue"
)

// A call runs once, after it was approved; asked again, also by a later process, it
// gives its report.
func ExampleOnce() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	rdb, stop := bot(ctx) // on which Ann approves mail-1
	defer stop()
	folder, err := os.MkdirTemp("", "ledger")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(folder) }()
	ledger, err := queue.NewFileLedger(folder)
	if err != nil {
		fmt.Println(err)
		return
	}

	once := queue.Once{Client: queue.NewClient(rdb, "approvals"), Ledger: ledger, By: "worker-1"}
	ask := queue.Ask{
		ID: "mail-1", Tool: "trash_emails", Arguments: []byte(`{"ids":["m1","m2"]}`), Card: queue.AskCard{Title: "Trash 2 emails"},
	}
	trash := func(_ context.Context, calls []approval.Call) (approval.Report, error) {
		fmt.Println("run", calls[0].Tool, string(calls[0].Arguments))
		return approval.Report{Message: "2 emails are in the bin"}, nil
	}
	for range 2 {
		report, err := once.Run(ctx, ask, trash)
		fmt.Println(report.Outcome, report.Message, err)
	}

	// Output:
	// run trash_emails {"ids":["m1","m2"]}
	// executed 2 emails are in the bin <nil>
	// executed 2 emails are in the bin <nil>
}
