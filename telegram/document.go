package telegram

import (
	"bytes"
	"context"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
)

// Document is one file to send.
type Document struct {
	Chat    int64
	Thread  int    // as in [Outgoing]
	ReplyTo int    // as in [Outgoing]
	Name    string // the file's name, as shown
	Content []byte // at most 50 MB; not empty
	Caption string // plain text of at most 1024 characters; may be empty
	Silent  bool
}

// SendDocument posts a file, with one call. It is the only call that is sent as a form.
func (c *Client) SendDocument(ctx context.Context, d Document) (Sent, error) {
	ctx, cancel := c.within(ctx)
	defer cancel()
	sent, err := c.library.SendDocument(ctx, &bot.SendDocumentParams{
		ChatID:                      d.Chat,
		MessageThreadID:             d.Thread,
		Document:                    &models.InputFileUpload{Filename: d.Name, Data: bytes.NewReader(d.Content)},
		Caption:                     d.Caption,
		DisableContentTypeDetection: true, // a text is shown as a file, whatever it looks like
		DisableNotification:         d.Silent,
		ReplyParameters:             replyTo(d.ReplyTo),
	})
	return sentMessage(sent, c.failure("sendDocument", err))
}

func replyTo(message int) *models.ReplyParameters {
	if message == 0 {
		return nil
	}
	return &models.ReplyParameters{MessageID: message, AllowSendingWithoutReply: true}
}

// sentMessage reads what the wire left of a message.
func sentMessage(m *models.Message, err error) (Sent, error) {
	if err != nil {
		return Sent{}, err
	}
	return Sent{MessageID: m.ID, Date: int64(m.Date), Undecoded: m.ID == 0}, nil
}
