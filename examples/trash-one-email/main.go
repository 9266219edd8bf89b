// Command trash-one-email asks before it trashes an email, and trashes only what was approved.
package main

import (
	"context"
	"log"
	"os"

	"github.com/redis/go-redis/v9"

	"countersign/approval"
	"countersign/queue"
)

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err) // a no, too: it is the sentence for the model
	}
	return v
}

func main() {
	client := queue.NewClient(redis.NewClient(must(redis.ParseURL(os.Getenv("REDIS_URL")))), os.Getenv("NAMESPACE"))
	once := queue.Once{Client: client, Ledger: must(queue.NewFileLedger("ledger")), By: "worker-1"}
	ask := queue.Ask{ID: os.Args[1], Tool: "trash_email", Arguments: []byte(`{"id":"m7"}`), Card: queue.AskCard{Title: "Trash 1 email, says Go"}}
	must(once.Run(context.Background(), ask, func(_ context.Context, calls []approval.Call) (r approval.Report, err error) {
		log.Println("running:", calls[0].Tool, string(calls[0].Arguments))
		return r, nil // executed, and reported so
	}))
}
