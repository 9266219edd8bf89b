package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"time"
)

// A call is one request to the Bot API, as it came. The body is good until the answer.
type call struct {
	method string // the last part of the path
	body   []byte
	at     time.Time // when it had arrived whole
}

// serve answers calls with what handle makes of them, until ctx ends. It speaks as much
// of HTTP/1.1 as Go's clients do: kept connections, bodies of known length or in chunks.
// A server of the standard library takes three times as long, and would be measured.
func serve(ctx context.Context, l net.Listener, handle func(context.Context, call) []byte) {
	context.AfterFunc(ctx, func() { _ = l.Close() })
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
			defer stop()
			defer func() { _ = conn.Close() }()
			converse(ctx, conn, handle)
		}()
	}
}

// converse answers the calls of one connection, one after the other.
func converse(ctx context.Context, conn net.Conn, handle func(context.Context, call) []byte) {
	in := bufio.NewReaderSize(conn, 16<<10)
	var body, out []byte
	for {
		c, err := readCall(in, body[:0])
		if err != nil {
			return
		}
		c.at = time.Now()
		body = c.body
		result := handle(ctx, c)
		out = append(out[:0], "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: "...)
		out = strconv.AppendInt(out, int64(len(result)), 10)
		out = append(append(out, "\r\n\r\n"...), result...)
		if _, err := conn.Write(out); err != nil {
			return
		}
	}
}

var errCall = errors.New("not a call")

// readCall reads one request; its body is appended to buf.
func readCall(in *bufio.Reader, buf []byte) (c call, err error) {
	line, err := in.ReadSlice('\n')
	if err != nil {
		return c, err
	}
	parts := bytes.Fields(line)
	if len(parts) != 3 {
		return c, errCall
	}
	c.method = string(parts[1][bytes.LastIndexByte(parts[1], '/')+1:])
	length, chunked := 0, false
	for {
		if line, err = in.ReadSlice('\n'); err != nil {
			return c, err
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			break
		}
		name, value, _ := bytes.Cut(line, []byte(": "))
		switch {
		case bytes.EqualFold(name, []byte("Content-Length")):
			if length, err = strconv.Atoi(string(value)); err != nil {
				return c, errCall
			}
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			chunked = true
		}
	}
	if chunked {
		c.body, err = readChunks(in, buf)
		return c, err
	}
	c.body, err = readN(in, buf, length)
	return c, err
}

// readChunks reads a body in chunks.
func readChunks(in *bufio.Reader, buf []byte) ([]byte, error) {
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return buf, err
		}
		n, err := strconv.ParseInt(string(bytes.TrimRight(line, "\r\n")), 16, 32)
		if err != nil {
			return buf, errCall
		}
		if buf, err = readN(in, buf, int(n)); err != nil {
			return buf, err
		}
		if _, err := in.Discard(2); err != nil || n == 0 {
			return buf, err
		}
	}
}

func readN(in *bufio.Reader, buf []byte, n int) ([]byte, error) {
	at := len(buf)
	if cap(buf)-at < n {
		buf = append(make([]byte, 0, at+n), buf...)
	}
	buf = buf[:at+n]
	_, err := io.ReadFull(in, buf[at:])
	return buf, err
}

// field is the number that a parameter has in a body, be it JSON or a form; ok is false
// where it has none.
func field(body []byte, name string) (n int64, ok bool) {
	for _, lead := range []string{`"` + name + `":`, `name="` + name + "\"\r\n\r\n"} {
		_, rest, found := bytes.Cut(body, []byte(lead))
		if !found {
			continue
		}
		end := 0
		for end < len(rest) && (rest[end] == '-' || '0' <= rest[end] && rest[end] <= '9') {
			end++
		}
		n, err := strconv.ParseInt(string(rest[:end]), 10, 64)
		return n, err == nil
	}
	return 0, false
}

// buttons are the data of the first button in a body, and of the one that says yes.
func buttons(body []byte) (first, yes string) {
	lead := []byte(`"callback_data":"`)
	data := func(after []byte) string {
		_, rest, _ := bytes.Cut(body, after)
		_, rest, _ = bytes.Cut(rest, lead)
		text, _, _ := bytes.Cut(rest, []byte(`"`))
		return string(text)
	}
	return data(nil), data([]byte(`{"text":"Yes`))
}

// marked is the number in a mark such as k000123k, -1 where there is none.
func marked(body []byte, letter byte) int {
	for at := 0; at+markLength <= len(body); at++ {
		next := bytes.IndexByte(body[at:], letter)
		if next < 0 || at+next+markLength > len(body) {
			return -1
		}
		at += next
		if body[at+markLength-1] != letter {
			continue
		}
		if n, err := strconv.Atoi(string(body[at+1 : at+markLength-1])); err == nil && n >= 0 {
			return n
		}
	}
	return -1
}

// markLength is that of a mark: a letter, six digits, the letter again.
const markLength = 8
