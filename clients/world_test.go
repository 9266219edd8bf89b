package clients_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"countersign/simulator"
	"countersign/store/storetest"
)

// requireClients names the variable that makes a client which cannot be tested a
// failure.
const requireClients = "COUNTERSIGN_REQUIRE_CLIENTS"

const annID = 1001

// lacking says that something a test needs is not on this machine.
func lacking(t *testing.T, err error) {
	t.Helper()
	if os.Getenv(requireClients) != "" {
		t.Fatalf("%s is set, but this cannot be tested: %v", requireClients, err)
	}
	t.Logf("not tested: %v", err)
}

// bin is a folder with the program in it, built once for all tests here.
type bin struct {
	once sync.Once
	dir  string
	err  error
}

var built bin

func TestMain(m *testing.M) {
	code := m.Run()
	if built.dir != "" {
		_ = os.RemoveAll(built.dir)
	}
	os.Exit(code)
}

func program(t *testing.T) string {
	t.Helper()
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "countersign-clients-"); built.err != nil {
			return
		}
		var out []byte
		if out, built.err = exec.Command("go", "build", "-o", built.dir+"/", "countersign/cmd/bot", "countersign/examples/trash-one-email").CombinedOutput(); built.err != nil {
			built.err = fmt.Errorf("%w\n%s", built.err, out)
			return
		}
		built.err = os.Rename(built.dir+"/bot", built.dir+"/countersign")
	})
	if built.err != nil {
		t.Fatalf("build: %v", built.err)
	}
	return built.dir
}

// A world is the program on a real Redis and a simulated Bot API, a user there with
// a runtime's rights, and an address at which a test in another language has Ann do
// things.
type world struct {
	t       *testing.T
	ctx     context.Context
	server  *storetest.Server
	ns      string
	sim     *simulator.Server
	ann     *simulator.Person
	dir     string // the program is in it
	config  string // the configuration's file
	runtime string // the address of Redis with the runtime's user
	table   string // a namespace that no bot serves
	control string
}

// newWorld sets everything up with the bot running, on the server's namespace
// unless another is given. It returns nil where there is no redis-server.
func newWorld(t *testing.T, namespace ...string) *world {
	t.Helper()
	server := storetest.Real(t)
	if server == nil {
		lacking(t, errors.New("no redis-server"))
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute)
	t.Cleanup(cancel)
	w := &world{t: t, ctx: ctx, server: server, ns: server.Namespace(), dir: program(t), table: storetest.Real(t).Namespace()}
	address := server.URL()
	if len(namespace) > 0 {
		w.ns, address = namespace[0], server.AdminURL()
		// Once the bot has ended: the next one here would take up what is left, and
		// edit messages by numbers that are others in its own chats.
		t.Cleanup(func() { w.forget() })
	}
	w.runtime = server.User(t, "runtime", w.rights()...)
	w.sim = simulator.New(simulator.Options{Now: time.Now, Token: "7000000:test-token", Username: "countersign_bot", Name: "Countersign"})
	url, err := w.sim.Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.sim.Close() })
	w.ann = w.sim.AddUser(annID, "Ann")
	w.ann.Start()
	control := httptest.NewServer(http.HandlerFunc(w.owner))
	t.Cleanup(control.Close)
	w.control = control.URL
	w.config = filepath.Join(t.TempDir(), "config.yaml")
	text := fmt.Sprintf(`telegram: {token: %q, api_url: %q, limits: {per_second: 0, chat_per_second: 0, group_per_minute: 0}}
redis: {url: %q, namespace: %q}
people: [{id: %d, name: Ann, role: owner}]
confirm: {dwell: 0s}
sweep: {schedule: "@every 1s"}
http: {listen: "127.0.0.1:0"}
`, w.sim.Token(), url, address, w.ns, annID)
	if err := os.WriteFile(w.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	w.start()
	return w
}

// rights are what the runtime's user may do beside what it may in the server's
// namespace: the same in the other namespaces here, and ask by a stream of its own.
func (w *world) rights() []string {
	more := []string{"(+xadd %W~{" + w.table + "}:mail)"}
	for _, ns := range []string{w.table, w.ns} {
		rules := storetest.Rights("runtime", ns)
		if first := slices.IndexFunc(rules, func(r string) bool { return strings.HasPrefix(r, "(") }); first >= 0 {
			more = append(more, rules[first:]...) // what stands before would reset the user
		}
	}
	return more
}

// forget deletes all that is in the namespace.
func (w *world) forget() {
	ctx, rdb := context.Background(), w.server.Client()
	keys, err := rdb.Keys(ctx, "{"+w.ns+"}:*").Result()
	if err == nil && len(keys) > 0 {
		err = rdb.Del(ctx, keys...).Err()
	}
	if err != nil {
		w.t.Errorf("the namespace %s was not emptied: %v", w.ns, err)
	}
}

// start starts the bot and waits until it is ready.
func (w *world) start() {
	w.t.Helper()
	cmd := exec.CommandContext(w.ctx, filepath.Join(w.dir, "countersign"), "run", "--config", w.config, "--name", "bot-1")
	said := &speech{wanted: "is ready", heard: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	w.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-ended
		if code := cmd.ProcessState.ExitCode(); code != 0 {
			w.t.Errorf("the bot ended with %d:\n%s", code, said)
		}
	})
	select {
	case <-said.heard:
	case <-ended:
		w.t.Fatalf("the bot ended:\n%s", said)
	}
}

// speech is what a program says; heard is closed once it has said something.
type speech struct {
	wanted string
	heard  chan struct{}

	mu   sync.Mutex // guards what follows
	text bytes.Buffer
	done bool
}

func (s *speech) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.Write(p)
	if !s.done && strings.Contains(s.text.String(), s.wanted) {
		s.done = true
		close(s.heard)
	}
	return len(p), nil
}

func (s *speech) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// environment tells a program where everything is: as tests have it, and as the
// examples do.
func (w *world) environment() []string {
	return append(os.Environ(),
		"COUNTERSIGN_TEST_ADMIN="+w.server.AdminURL(), "COUNTERSIGN_TEST_RUNTIME="+w.runtime,
		"COUNTERSIGN_TEST_NAMESPACE="+w.ns, "COUNTERSIGN_TEST_TABLE_NAMESPACE="+w.table,
		"COUNTERSIGN_TEST_CONTROL="+w.control,
		"REDIS_URL="+w.runtime, "NAMESPACE="+w.ns, "PATH="+w.dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// finish runs a program that knows where everything is to its end, and returns what it
// said.
func (w *world) finish(cmd *exec.Cmd) (string, error) {
	w.t.Helper()
	cmd.Env = append(w.environment(), cmd.Env...)
	return w.end(cmd)
}

// end runs a program to its end, which the world's end brings about at the latest.
func (w *world) end(cmd *exec.Cmd) (string, error) {
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	// What it starts ends with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	stop := context.AfterFunc(w.ctx, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	defer stop()
	err := cmd.Wait()
	return out.String(), err
}
