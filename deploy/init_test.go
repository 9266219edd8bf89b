package deploy_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign/config"
)

// begins starts the guided start in a window.
func (s *site) begins(environ []string, args ...string) *window {
	s.t.Helper()
	return opens(s.t, s.dir, environ, append([]string{program(s.t), "init", "--api-url", s.url}, args...)...)
}

// code waits for the code that is shown.
func code(w *window) string {
	w.t.Helper()
	m := regexp.MustCompile(`\?start=([a-z2-7]{8})\r?\n`).FindStringSubmatch(w.sees("send it this code: "))
	if m == nil {
		w.t.Fatalf("no link with a code in:\n%s", w.shown())
	}
	return m[1]
}

// written reads the configuration that was written.
func (s *site) written(name string) config.Config {
	s.t.Helper()
	cfg, err := config.Load(filepath.Join(s.dir, name), nil, os.ReadFile)
	if err != nil {
		s.t.Fatal(err)
	}
	return cfg
}

// The whole way: whoever sends the code is the owner, however many write before, and
// what is written is for the owner's eyes and works.
func TestInit(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	if s == nil {
		return
	}
	s.sam.Start()
	s.sam.Send(samID, "/start 12345678")
	w := s.begins(nil)
	w.answers("Token (it is not shown): ", token)
	c := code(w)
	w.sees("Sam (id 1004) wrote to the bot, but not the code.")
	s.ann.Send(annID, "/start "+c)
	w.answers("Shall Ann (id 1001) approve what agents want to do? [Y/n]: ", "")
	w.answers("Address [redis://127.0.0.1:6379/0]: ", "redis://127.0.0.1:1")
	w.sees("That did not work: ")
	w.answers("Address [redis://127.0.0.1:6379/0]: ", s.redis.URL())
	w.sees("Redis 7.")
	w.answers("Write the configuration to [countersign.yaml]: ", "")
	w.sees("token: it is that of @countersign_bot")
	w.sees("owner: Ann (1001) can be reached")
	w.sees("no fault, ")
	w.sees("Next:  countersign run --config countersign.yaml")
	if got := w.ends(); got != 0 {
		t.Errorf("exit code %d", got)
	}
	shown := w.shown()
	if strings.Contains(shown, "test-token") {
		t.Errorf("the token is shown:\n%s", shown)
	}
	if !strings.Contains(shown, "\x1b[32mok     \x1b[0m") {
		t.Errorf("no colours at a terminal:\n%s", shown)
	}
	for _, name := range []string{"countersign.yaml", "countersign.token"} {
		info, err := os.Stat(filepath.Join(s.dir, name))
		if err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	want := config.Default()
	want.Telegram.Token, want.Telegram.TokenFile = config.NewSecret(token), filepath.Join(s.dir, "countersign.token")
	want.Telegram.APIURL, want.Redis.URL = s.url, config.NewRedisURL(s.redis.URL())
	want.People = []config.Person{{ID: annID, Name: "Ann", Role: config.RoleOwner}}
	if diff := cmp.Diff(want, s.written("countersign.yaml")); diff != "" {
		t.Errorf("the configuration (-want +got):\n%s", diff)
	}
	// What was sent meanwhile is still there for the bot.
	if n := s.sim.PendingUpdates(); n != 3 {
		t.Errorf("%d updates wait, want 3", n)
	}
}

// What goes wrong on the way is said, and asked again.
func TestInitGoesWrong(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	if s == nil {
		return
	}
	if err := s.redis.Client().Do(t.Context(), "acl", "setuser", "bot", "on", ">hunter2", "~*", "+@all").Err(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"countersign.yaml", "mine.token"} {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte("precious\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w := s.begins([]string{"NO_COLOR=1"}, "--wait", "2s")
	w.answers("Token (it is not shown): ", "what is this")
	w.sees("want digits, a colon")
	w.answers("Token (it is not shown): ", "1:wrong")
	w.sees("Telegram does not know this token.")
	w.answers("Token (it is not shown): ", token)
	c := code(w)
	w.sees("Nobody sent the code.")
	w.answers("Press Enter to wait on, or type your numeric Telegram id: ", "")
	w.sees("Nobody sent the code.")
	w.answers("or type your numeric Telegram id: ", "@ann")
	w.sees("That is no numeric id.")
	w.sees("Nobody sent the code.")
	s.sim.AddUser(4711, "\u202eevil\x1b[2J")
	s.sim.Person(4711).Send(4711, c)
	w.answers("or type your numeric Telegram id: ", "")
	w.sees(`Shall \u202eevil\x1b[2J (id 4711) approve what agents want to do? [Y/n]: `)
	s.ann.Start()
	w.types("n")
	w.sees("Ann (id 1001) wrote to the bot, but not the code.")
	w.sees("Nobody sent the code.")
	w.answers("or type your numeric Telegram id: ", "1001")
	w.answers("The name that cards show: ", "")
	w.answers("The name that cards show: ", "Ann")
	host := strings.TrimPrefix(s.redis.URL(), "redis://")
	address := "redis://bot:hunter2@" + host
	w.answers("Address [redis://127.0.0.1:6379/0]: ", "redis://bot:wrong@"+host)
	w.sees("WRONGPASS")
	w.answers("Address [redis://127.0.0.1:6379/0]: ", address)
	w.answers("Write the configuration to [countersign.yaml]: ", "")
	w.answers("countersign.yaml exists. Replace it? [y/N]: ", "")
	w.answers("Write the configuration to [countersign.yaml]: ", "mine.yaml")
	w.answers("mine.token exists. Replace it? [y/N]: ", "perhaps")
	w.sees("Please type y or n.")
	w.answers("mine.token exists. Replace it? [y/N]: ", "y")
	w.sees("Next:  countersign run --config mine.yaml")
	if got := w.ends(); got != 0 {
		t.Errorf("exit code %d", got)
	}
	if shown := w.shown(); strings.Contains(shown, "\x1b[3") || strings.Contains(shown, "test-token") {
		t.Errorf("colours, or the token:\n%s", shown)
	}
	if text, err := os.ReadFile(filepath.Join(s.dir, "countersign.yaml")); err != nil || string(text) != "precious\n" {
		t.Errorf("countersign.yaml was overwritten: %s (%v)", text, err)
	}
	text, err := os.ReadFile(filepath.Join(s.dir, "mine.yaml"))
	if err != nil || strings.Contains(string(text), "hunter2") || strings.Contains(string(text), token) {
		t.Errorf("a secret is in the configuration:\n%s (%v)", text, err)
	}
	cfg := s.written("mine.yaml")
	if cfg.Telegram.Token.Reveal() != token || cfg.Redis.URL.Reveal() != address {
		t.Error("the secrets are not those that were typed")
	}
}

// Where another system gets the updates, that is said before anything is done to it.
func TestInitOfAnothersBot(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	if s == nil {
		return
	}
	s.calls("setWebhook", `{"url":"https://other.invalid/hush"}`)
	w := s.begins(nil)
	w.answers("Token (it is not shown): ", token)
	w.sees("Telegram delivers what is sent to this bot to other.invalid")
	w.answers("[y/N]: ", "")
	w.sees("nothing was written")
	if got := w.ends(); got != 1 {
		t.Errorf("exit code %d, want 1", got)
	}

	w = s.begins(nil)
	w.answers("Token (it is not shown): ", token)
	w.answers("[y/N]: ", "y")
	w.sees("so the code cannot come here")
	w.answers("or type your numeric Telegram id: ", "1001")
	w.answers("The name that cards show: ", "Ann")
	w.answers("Address [redis://127.0.0.1:6379/0]: ", s.redis.URL())
	w.answers("Write the configuration to [countersign.yaml]: ", "")
	w.sees("webhook: another system's is set, at other.invalid")
	w.sees("See to the faults")
	if got := w.ends(); got != 1 {
		t.Errorf("exit code %d, want 1", got)
	}
	if strings.Contains(w.shown(), "hush") {
		t.Errorf("the path of another's webhook is shown:\n%s", w.shown())
	}
	if s.sim.PendingUpdates() != 0 || len(s.sim.Calls("deleteWebhook")) > 0 {
		t.Error("the webhook was touched")
	}
}

// Ctrl-C at any question, and the end of the input at one, leave nothing behind, and
// the terminal as it was.
func TestInitStops(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	if s == nil {
		return
	}
	for _, at := range []string{"Token", "code", "Address"} {
		for _, key := range []byte{'c', 'd'} {
			if at != "Address" && key == 'd' {
				continue // it means nothing there
			}
			// The shell says whether what is typed is shown again.
			w := opens(t, s.dir, nil, "sh", "-c", `trap : INT; "$@"; echo "code $?"; stty -a`, "sh", program(t), "init", "--api-url", s.url)
			w.sees("Token (it is not shown): ")
			if at != "Token" {
				w.types(token)
				c := code(w)
				w.sees("Waiting for the code")
				if at == "Address" {
					s.ann.Send(annID, c)
					w.answers("[Y/n]: ", "y")
					w.sees("Address")
				}
			}
			w.presses(key)
			w.sees("nothing was written")
			w.sees("code 1")
			w.sees(" echo ")
			w.ends()
		}
	}
	left, err := os.ReadDir(s.dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}

// Without a terminal nobody can be asked.
func TestInitWithoutTerminal(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	if s == nil {
		return
	}
	_, stderr, code := s.runs(nil, "init")
	if code != 2 || !strings.Contains(stderr, "config example") {
		t.Errorf("exit code %d, %s", code, stderr)
	}
}
