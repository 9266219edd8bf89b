package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"countersign/config"
)

type healthCmd struct {
	Alive bool `help:"Ask only whether the process answers (/healthz), whatever it can reach."`
}

// askBotFor bounds how long the bot on this machine is asked how it is.
const askBotFor = 3 * time.Second

// Run asks the bot on this machine how it is, by its own http.listen: for a container's
// health check.
func (c *healthCmd) Run(s *shell) error {
	cfg, err := s.load()
	if err != nil {
		return err
	}
	path := "/readyz"
	if c.Alive {
		path = "/healthz"
	}
	ctx, cancel := s.within(askBotFor)
	defer cancel()
	words, well, err := askBot(ctx, cfg, path)
	if err != nil {
		return fail(exitUnavailable, "no bot answers: %w", err)
	}
	if !well {
		return fail(exitNotDone, "not ready: %s", words)
	}
	fmt.Fprintln(s.stdout, words)
	return nil
}

// askBot asks the bot of a configuration on this machine by one of its paths: its words,
// and whether it is well.
func askBot(ctx context.Context, cfg config.Config, path string) (words string, well bool, err error) {
	address, err := ownAddress(cfg.HTTP.Listen)
	if err != nil {
		return "", false, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+path, nil)
	if err != nil {
		return "", false, err
	}
	// No proxy: it is this machine that is asked.
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(request)
	if err != nil {
		return "", false, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 4<<10))
	if err != nil {
		return "", false, err
	}
	switch answer.StatusCode {
	case http.StatusOK, http.StatusServiceUnavailable:
	default:
		return "", false, fmt.Errorf("%s answered %s, as no bot does", address, answer.Status)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines, "; "), answer.StatusCode == http.StatusOK, nil
}

// ownAddress is where a listening address is reached from the same machine.
func ownAddress(listen string) (string, error) {
	if listen == "" {
		return "", errors.New("http.listen is empty, so the bot cannot be asked")
	}
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return "", fmt.Errorf("http.listen: %w", err)
	}
	if port == "0" {
		return "", errors.New("http.listen has port 0, so nobody knows the bot's port")
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return net.JoinHostPort(host, port), nil
}
