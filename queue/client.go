package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"countersign/approval"
	"countersign/store"
)

// Errors of a [Client], beside those of Redis.
var (
	// ErrUnavailable: no bot serves the stream, so that nobody would be asked.
	ErrUnavailable = errors.New("no bot is serving this queue")
	// ErrUnknown: there is no such approval, or none came of a request.
	ErrUnknown = errors.New("no such approval")
	// ErrTaken: another request, with other terms, stands under this id.
	ErrTaken = errors.New("this id is taken by another request")
	// ErrNotMine: the answer is to other terms or to another call under this id.
	ErrNotMine = errors.New("the answer is not to this request")
	// ErrBadSignature: keys were given ([WithKeys]), and an answer or an undo request
	// bears no signature by one of them.
	ErrBadSignature = errors.New("the signature does not hold")
)

// A Client is a runtime's side of the queue. It keeps nothing: what it needs to
// go on after a restart is in [Pending].
//
// In Redis it needs these rights, in key patterns of a namespace NS:
//
//	+xadd %W~<its stream>                  request, withdraw, report, claim
//	+get %R~{NS}:alive                     request
//	+xread %R~{NS}:answer:*                await
//	+time                                  await
//	+hmget +hgetall %R~{NS}:row:*          request, await, row, withdraw, report, claim
//	+eval +evalsha +hmget +hexists +hsetnx %RW~{NS}:claim:*   claim
//
// The command line also asks +ping.
//
// All methods are safe for concurrent use. The connection is lent.
type Client struct {
	rdb    redis.UniversalClient
	keys   store.Keys
	stream string         // where requests go
	own    bool           // stream was given, and is this runtime's own
	trusts *approval.Keys // whose signatures answers must bear; nil: none is asked for
	slice  time.Duration  // how long one read of an answer blocks
	poll   time.Duration  // between two tries while Redis is away
}

// An Option changes a Client.
type Option func(*Client)

// WithStream names the inbound stream by which this client asks. Without it
// that is the namespace's {NS}:requests.
func WithStream(key string) Option {
	return func(c *Client) { c.stream, c.own = key, true }
}

// WithKeys names the keys of which one must have signed an answer or an undo request;
// else the error is [ErrBadSignature]. They are public ones; see [approval.ParseKeys].
func WithKeys(keys *approval.Keys) Option {
	return func(c *Client) { c.trusts = keys }
}

// NewClient returns a client of a namespace. It does not touch Redis.
func NewClient(rdb redis.UniversalClient, namespace string, options ...Option) *Client {
	c := &Client{rdb: rdb, keys: store.NewKeys(namespace), slice: 2 * time.Second, poll: time.Second}
	c.stream = c.keys.Requests()
	for _, o := range options {
		o(c)
	}
	return c
}

// A Request is what to publish.
type Request struct {
	Data    json.RawMessage // the data of an approval.requested event; see [Ask]
	Stream  string          // "": the client's
	NoCheck bool            // publish whatever it is, whether or not anybody reads it
}

// A Pending is a request that was published. It may be kept, as JSON, to await
// the answer after a restart.
type Pending struct {
	ID     string `json:"approval_id"`
	Stream string `json:"stream"`
	Entry  string `json:"entry"` // the stream entry's id; its time is when Redis took it
	Terms  string `json:"terms"`
	Pin    string `json:"pin"` // "" where the calls could not be read
}

// Request publishes a request. Unless told not to check, it refuses one that
// breaks a rule (an [*approval.Invalid]), and one that nobody would read
// ([ErrUnavailable]) or whose id another request has ([ErrTaken]), before
// anything is sent. The same request published twice is one approval.
func (c *Client) Request(ctx context.Context, r Request) (Pending, error) {
	q, err := approval.Decode(r.Data)
	if err != nil && !r.NoCheck {
		return Pending{}, fmt.Errorf("queue: request: %w", err)
	}
	p := Pending{ID: q.ID, Stream: r.Stream, Terms: approval.TermsOrRaw(r.Data)}
	if p.Stream == "" {
		p.Stream = c.stream
	}
	if q.Calls != nil {
		if p.Pin, err = approval.PinOf(q.Calls); err != nil {
			return Pending{}, fmt.Errorf("queue: request %q: %w", p.ID, err)
		}
	}
	if !r.NoCheck {
		if err := c.served(ctx, p.Stream); err != nil {
			return Pending{}, err
		}
		if err := c.free(ctx, p); err != nil {
			return Pending{}, err
		}
	}
	p.Entry, err = c.publish(ctx, p.Stream, typeRequested, p.ID+"/requested", r.Data)
	return p, err
}

// served reports [ErrUnavailable] unless a bot is alive that reads the stream.
func (c *Client) served(ctx context.Context, stream string) error {
	text, err := c.rdb.Get(ctx, c.keys.Alive()).Bytes()
	if errors.Is(err, redis.Nil) {
		return fmt.Errorf("queue: %w", ErrUnavailable)
	}
	if err != nil {
		return fmt.Errorf("queue: is anybody there: %w", err)
	}
	var streams []string
	if err := json.Unmarshal(text, &streams); err != nil {
		return fmt.Errorf("queue: is anybody there: %w", err)
	}
	if !slices.Contains(streams, stream) {
		return fmt.Errorf("queue: stream %s: %w", stream, ErrUnavailable)
	}
	return nil
}

// free reports [ErrTaken] where another request stands under the id. It is a
// courtesy: what two runtimes publish at once is told apart by their terms.
func (c *Client) free(ctx context.Context, p Pending) error {
	terms, err := c.rdb.HMGet(ctx, c.keys.Row(p.ID), "terms").Result()
	if err != nil {
		return fmt.Errorf("queue: request %q: %w", p.ID, err)
	}
	if terms[0] != nil && terms[0] != p.Terms {
		return fmt.Errorf("queue: request %q: %w", p.ID, ErrTaken)
	}
	return nil
}

// Withdraw takes a request back. The event goes to the stream by which the
// request came. Before there is a row it goes to this client's own stream, if
// one was given, and is remembered there; else the error is [ErrUnknown].
func (c *Client) Withdraw(ctx context.Context, id, reason string) error {
	data, err := json.Marshal(struct {
		ID     string `json:"approval_id"`
		Reason string `json:"reason,omitempty"`
	}{id, reason})
	if err != nil {
		return fmt.Errorf("queue: withdraw %q: %w", id, err)
	}
	if _, err := approval.DecodeWithdrawal(data); err != nil {
		return fmt.Errorf("queue: withdraw %q: %w", id, err)
	}
	stream, err := c.streamOf(ctx, id)
	if errors.Is(err, ErrUnknown) && c.own {
		stream, err = c.stream, nil
	}
	if err != nil {
		return err
	}
	_, err = c.publish(ctx, stream, typeWithdrawn, id+"/withdrawn", data)
	return err
}

// Report says what happened to an approved call. Reports may be sent again; the
// last one counts.
func (c *Client) Report(ctx context.Context, p approval.Report) error {
	data, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("queue: report on %q: %w", p.ID, err)
	}
	if _, err := approval.DecodeReport(data); err != nil {
		return fmt.Errorf("queue: report on %q: %w", p.ID, err)
	}
	stream, err := c.streamOf(ctx, p.ID)
	if err != nil {
		return err
	}
	_, err = c.publish(ctx, stream, typeReported, p.ID+"/reported", data)
	return err
}

// streamOf is the stream by which an approval's request came.
func (c *Client) streamOf(ctx context.Context, id string) (string, error) {
	v, err := c.rdb.HMGet(ctx, c.keys.Row(id), "stream").Result()
	if err != nil {
		return "", fmt.Errorf("queue: stream of %q: %w", id, err)
	}
	stream, _ := v[0].(string)
	if stream == "" {
		return "", fmt.Errorf("queue: %q: %w", id, ErrUnknown)
	}
	return stream, nil
}

// publish adds one event to a stream and returns the entry's id.
func (c *Client) publish(ctx context.Context, stream, kind, id string, data []byte) (string, error) {
	entry, err := c.rdb.XAdd(ctx, &redis.XAddArgs{
		Stream: stream,
		Values: []any{"specversion", "1.0", "type", kind, "id", id, "source", "countersign-client", "data", data},
	}).Result()
	if err != nil {
		return "", fmt.Errorf("queue: publish %s: %w", kind, err)
	}
	return entry, nil
}
