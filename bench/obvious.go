package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
	"github.com/redis/go-redis/v9"
)

// obvious is what one writes in an afternoon: a loop that reads a request and sends its
// card, and the library's own loop for the taps. What is open is known to the process.
func obvious(ctx context.Context, rdb *redis.Client, api string) error {
	b, err := bot.New(token, bot.WithServerURL(api), bot.WithSkipGetMe(),
		bot.WithDefaultHandler(func(ctx context.Context, b *bot.Bot, u *models.Update) {
			if u.CallbackQuery != nil {
				obviousTap(ctx, rdb, b, u.CallbackQuery)
			}
		}))
	if err != nil {
		return err
	}
	go b.Start(ctx)
	last := "0"
	for {
		res, err := rdb.XRead(ctx, &redis.XReadArgs{Streams: []string{keyRequests, last}, Count: 10, Block: time.Second}).Result()
		if errors.Is(err, redis.Nil) {
			continue
		}
		if err != nil {
			return err
		}
		for _, e := range res[0].Messages {
			last = e.ID
			data, _ := e.Values["data"].(string)
			var q struct {
				ID   string `json:"approval_id"`
				Card struct {
					Title string `json:"title"`
				} `json:"card"`
			}
			if err := json.Unmarshal([]byte(data), &q); err != nil {
				return err
			}
			if err := rdb.HSet(ctx, keyRow+q.ID, "state", "open", "request", data).Err(); err != nil {
				return err
			}
			_, err := b.SendMessage(ctx, &bot.SendMessageParams{
				ChatID: owner, Text: q.Card.Title, ReplyMarkup: obviousButton("Approve", "a:"+q.ID),
			})
			if err != nil {
				return err
			}
		}
	}
}

func obviousButton(text, data string) models.InlineKeyboardMarkup {
	return models.InlineKeyboardMarkup{InlineKeyboard: [][]models.InlineKeyboardButton{{{Text: text, CallbackData: data}}}}
}

// obviousTap asks for a yes, or takes it.
func obviousTap(ctx context.Context, rdb *redis.Client, b *bot.Bot, tap *models.CallbackQuery) {
	id := tap.Data[2:]
	edit := &bot.EditMessageTextParams{
		ChatID: owner, MessageID: tap.Message.Message.ID,
		Text: "Really? " + titleOf(id), ReplyMarkup: obviousButton("Yes", "y:"+id),
	}
	if strings.HasPrefix(tap.Data, "y:") {
		data := fmt.Sprintf(`{"approval_id":%q,"decision":"approved","approved":true}`, id)
		rdb.HSet(ctx, keyRow+id, "state", "approved", "answer", data)
		for _, key := range []string{keyAnswers, keyAnswer + id} {
			rdb.XAdd(ctx, &redis.XAddArgs{Stream: key, Values: []any{"type", "approval.answered", "subject", id, "data", data}})
		}
		edit.Text, edit.ReplyMarkup = "Approved: "+titleOf(id), nil
	}
	_, err := b.AnswerCallbackQuery(ctx, &bot.AnswerCallbackQueryParams{CallbackQueryID: tap.ID})
	if err == nil {
		_, err = b.EditMessageText(ctx, edit)
	}
	if err != nil {
		fmt.Println("a tap came to nothing:", err)
	}
}
