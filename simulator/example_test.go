package simulator_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"time"

	"countersign/simulator"
)

// A person taps a button, and the bot, here two plain HTTP requests, answers the tap.
func Example() {
	ctx := context.Background()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	s := simulator.New(simulator.Options{Now: func() time.Time { return noon }})
	defer s.Close()
	ann := s.AddUser(1001, "Ann")
	ann.Start()

	call := func(method, body string) {
		response, err := s.Client().Post("http://simulator/bot"+s.Token()+"/"+method, "application/json", bytes.NewBufferString(body))
		if err != nil || response.StatusCode != http.StatusOK {
			fmt.Println(method, "failed:", err)
			return
		}
		response.Body.Close()
	}
	call("sendMessage", `{"chat_id":1001,"text":"Trash <b>3 emails</b>?","parse_mode":"HTML",
		"reply_markup":{"inline_keyboard":[[{"text":"Trash","callback_data":"t"},{"text":"Reject","callback_data":"r"}]]}}`)

	card, err := s.WaitMessage(ctx, ann.ID, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(card.Text, card.Entities[0].Type)

	tap := ann.Tap(card, "Trash")
	call("answerCallbackQuery", `{"callback_query_id":"`+tap+`","text":"Done"}`)
	answer, err := s.WaitAnswer(ctx, tap)
	fmt.Println(answer.Text, err)
	fmt.Println("refused calls:", len(s.Refusals()))
	// Output:
	// Trash 3 emails? bold
	// Done <nil>
	// refused calls: 0
}
