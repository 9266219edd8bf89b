package storetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// requireRedis is the variable that makes a missing redis-server a failure.
const requireRedis = "COUNTERSIGN_REQUIRE_REDIS"

// A process is a running redis-server.
type process struct {
	addr string
	bus  int       // the port by which nodes of a cluster speak
	life io.Closer // the server ends when this is closed, or the process dies
}

// realServer starts the one real server of this test process when it is first
// asked for. It is nil where redis-server is not on the PATH.
var realServer = sync.OnceValues(func() (*process, error) { return startOne() })

// startOne starts a server with more arguments of redis-server. It is nil where that is
// not on the PATH.
func startOne(more ...string) (p *process, err error) {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		if os.Getenv(requireRedis) == "1" {
			return nil, fmt.Errorf("%s=1: %w", requireRedis, err)
		}
		return nil, nil
	}
	for range 5 { // somebody else may take the free port first
		if p, err = startRedis(path, more...); err == nil {
			return p, nil
		}
	}
	return nil, err
}

// guardian runs a server for as long as its own input stays open, so that the
// server goes when the test process does, however that ends.
const guardian = `dir=$1; shift
"$@" >"$dir/log" 2>&1 &
cat >/dev/null
kill $!
wait $!
rm -rf "$dir"`

func startRedis(path string, more ...string) (*process, error) {
	dir, err := os.MkdirTemp("", "redis")
	if err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	socket := filepath.Join(dir, "socket")
	args := []string{
		"-c", guardian, "sh", dir, path, "--bind", "127.0.0.1", "--port", strconv.Itoa(port), "--unixsocket", socket,
		"--dir", dir, "--save", "", "--appendonly", "no",
	}
	cmd := exec.Command("/bin/sh", append(args, more...)...)
	life, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	if err := awaitRedis(socket); err != nil {
		log, _ := os.ReadFile(filepath.Join(dir, "log"))
		return nil, errors.Join(fmt.Errorf("%w\n%s", err, log), life.Close(), cmd.Wait())
	}
	return &process{addr: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), life: life}, nil
}

// awaitRedis waits until the server answers on its socket, which nobody but it
// can own; it opens that only once it has its port.
func awaitRedis(socket string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	c := redis.NewClient(&redis.Options{Network: "unix", Addr: socket, MaxRetries: -1})
	defer func() { _ = c.Close() }()
	for {
		err := c.Ping(ctx).Err()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("did not answer: %w", err)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port, nil
}
