package deploy_test

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"countersign/config"
)

// The image's program is static, and says the version that its build was told; the
// build was one without a repository.
func TestImageProgram(t *testing.T) {
	t.Parallel()
	path := program(t)
	file, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	libraries, err := file.ImportedLibraries()
	if err != nil || len(libraries) > 0 {
		t.Errorf("it needs %v (%v), and the image has nothing", libraries, err)
	}
	if slices.ContainsFunc(file.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }) {
		t.Error("it needs a loader, and the image has none")
	}
	out, err := exec.Command(path, "version").Output()
	if err != nil || !strings.HasPrefix(string(out), "countersign v0.0.0-test") {
		t.Errorf("version: %s (%v)", out, err)
	}
	b, err := build()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(b.tree, ".git")); err == nil {
		t.Error("a repository was there")
	}
	if !strings.Contains(b.log, string(out)) {
		t.Errorf("the build did not say its version:\n%s", b.log)
	}
}

// The image has what the program needs besides, and nobody in it is root.
func TestImage(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(dockerfile)
	if err != nil {
		t.Fatal(err)
	}
	var last []string // of the last stage
	for _, line := range instructions(string(text)) {
		if strings.HasPrefix(line, "FROM ") {
			last = nil
		}
		last = append(last, line)
	}
	for _, want := range []string{
		"FROM scratch",
		"COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/",
		"COPY --from=build /out/countersign /usr/local/bin/countersign",
		"USER 65532:65532",
		`ENTRYPOINT ["countersign"]`,
		`CMD ["run"]`,
	} {
		if !slices.Contains(last, want) {
			t.Errorf("no %q in %q", want, last)
		}
	}
	check := slices.IndexFunc(last, func(line string) bool { return strings.HasPrefix(line, "HEALTHCHECK ") })
	if check < 0 || !strings.HasSuffix(last[check], `CMD ["countersign", "health"]`) {
		t.Error("the image does not look after itself")
	}
	// Time zones come with the program: it knows one on a machine without any.
	s := &site{t: t, dir: t.TempDir()}
	zoned := "telegram: {token: \"1:x\"}\npeople: [{id: 1, name: Ann, role: owner}]\ntimezone: Pacific/Auckland\n"
	if err := os.WriteFile(filepath.Join(s.dir, "c.yaml"), []byte(zoned), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, errs, code := s.runs([]string{"ZONEINFO=/nowhere"}, "config", "check", "c.yaml"); code != 0 {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
}

// A service is as much of one in compose.yaml as the tests look at.
type service struct {
	Image       string            `yaml:"image"`
	Command     []string          `yaml:"command"`
	User        string            `yaml:"user"`
	Hostname    string            `yaml:"hostname"`
	Restart     string            `yaml:"restart"`
	ReadOnly    bool              `yaml:"read_only"`
	Privileged  bool              `yaml:"privileged"`
	CapDrop     []string          `yaml:"cap_drop"`
	CapAdd      []string          `yaml:"cap_add"`
	SecurityOpt []string          `yaml:"security_opt"`
	Environment map[string]string `yaml:"environment"`
	Volumes     []string          `yaml:"volumes"`
	Secrets     []string          `yaml:"secrets"`
	Ports       []string          `yaml:"ports"`
	Grace       string            `yaml:"stop_grace_period"`
	DependsOn   map[string]struct {
		Condition string `yaml:"condition"`
	} `yaml:"depends_on"`
	Build struct {
		Context string            `yaml:"context"`
		Args    map[string]string `yaml:"args"`
	} `yaml:"build"`
	Healthcheck struct {
		Test                       []string
		Interval, Timeout, Retries string
	} `yaml:"healthcheck"`
}

type composed struct {
	Services map[string]service           `yaml:"services"`
	Secrets  map[string]map[string]string `yaml:"secrets"`
	Volumes  map[string]map[string]string `yaml:"volumes"`
}

// compose reads compose.yaml, strictly.
func compose(t *testing.T) composed {
	t.Helper()
	text, err := os.ReadFile("../compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var c composed
	if err := yaml.NewDecoder(bytes.NewReader(text), yaml.Strict()).Decode(&c); err != nil {
		t.Fatal(err)
	}
	if len(c.Services) != 2 {
		t.Fatalf("%d services, want 2", len(c.Services))
	}
	return c
}

// What runs in containers has no more than it needs, and its secrets come as files.
func TestCompose(t *testing.T) {
	t.Parallel()
	c := compose(t)
	for name, s := range c.Services {
		if !s.ReadOnly || s.Privileged || !slices.Equal(s.CapDrop, []string{"ALL"}) || len(s.CapAdd) > 0 ||
			!slices.Equal(s.SecurityOpt, []string{"no-new-privileges:true"}) || s.Restart != "unless-stopped" {
			t.Errorf("%s has more than it needs: %+v", name, s)
		}
		for _, secret := range s.Secrets {
			if !strings.HasPrefix(c.Secrets[secret]["file"], "./secrets/") {
				t.Errorf("%s: the secret %s is no file in secrets/", name, secret)
			}
		}
		for _, volume := range s.Volumes {
			source, _, _ := strings.Cut(volume, ":")
			if _, named := c.Volumes[source]; !named && !strings.HasSuffix(volume, ":ro") {
				t.Errorf("%s may write to %s", name, volume)
			}
		}
		for _, port := range s.Ports {
			if !strings.HasPrefix(port, "127.0.0.1:") {
				t.Errorf("%s is open to the network at %s", name, port)
			}
		}
	}
	if image := c.Services["redis"].Image; !regexp.MustCompile(`^redis:[78]\.\d+(-alpine)?$`).MatchString(image) || c.Services["redis"].User == "" {
		t.Errorf("the image of Redis is %s, of user %q", image, c.Services["redis"].User)
	}
	bot := c.Services["countersign"]
	if bot.Hostname == "" || bot.Build.Context != "." || bot.DependsOn["redis"].Condition != "service_healthy" || bot.Grace != "15s" {
		t.Errorf("the bot: %+v", bot)
	}
	// Its variables are keys of the configuration, and name secrets that it has.
	environ := []string{"COUNTERSIGN_PEOPLE_0_ID=1", "COUNTERSIGN_PEOPLE_0_NAME=Ann", "COUNTERSIGN_PEOPLE_0_ROLE=owner"}
	for name, value := range bot.Environment {
		environ = append(environ, name+"="+value)
		if !slices.Contains(bot.Secrets, strings.TrimPrefix(value, "/run/secrets/")) {
			t.Errorf("%s names %s, which it is not given", name, value)
		}
	}
	if _, err := config.Parse("", nil, environ); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(dockerfile)
	if err != nil || !strings.Contains(string(text), "COUNTERSIGN_CONFIG="+strings.Split(bot.Volumes[0], ":")[1]) {
		t.Errorf("the configuration is put elsewhere than the image looks (%v)", err)
	}
}

// The Redis of compose.yaml, started as it says there and with the users that the
// instructions make, is seen to live, and is sound by the doctor's word.
func TestComposedRedis(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	if s == nil {
		return
	}
	s.prepare()
	s.shell(s.fence("sh run", "mkdir -m 700 secrets"))
	redisService := compose(t).Services["redis"]
	argv := slices.Clone(redisService.Command)
	for i, a := range argv {
		argv[i] = strings.NewReplacer("/run/secrets/redis_users", filepath.Join(s.dir, "secrets/redis_users"), "/data", t.TempDir()).Replace(a)
	}
	s.port = s.serves(argv...)
	if test := redisService.Healthcheck.Test; test[0] != "CMD-SHELL" {
		t.Fatalf("its health check is %q", test)
	}
	s.until(func() bool {
		_, err := s.tries(redisService.Healthcheck.Test[1])
		return err == nil
	})
	address, err := os.ReadFile(filepath.Join(s.dir, "secrets/redis_url"))
	if err != nil {
		t.Fatal(err)
	}
	s.ann.Start()
	out, errs, code := s.runs([]string{
		"COUNTERSIGN_CONFIG=countersign.yaml", "COUNTERSIGN_TELEGRAM_TOKEN_FILE=secrets/telegram_token",
		"COUNTERSIGN_REDIS_URL=" + strings.Replace(string(address), "@redis:6379", "@127.0.0.1:"+s.port, 1),
	}, "doctor")
	if code != 0 || !strings.Contains(out, "rights: the bot may do what it needs") || !strings.Contains(out, "it keeps an append-only file") ||
		!strings.Contains(out, "it drops nothing") {
		t.Errorf("exit code %d:\n%s%s", code, out, errs)
	}
	// Whoever does not log in has no rights, and the bot none beyond its own.
	for _, refused := range []string{"redis-cli GET x", "redis-cli -u " + strings.Replace(string(address), "@redis:6379", "@127.0.0.1:"+s.port, 1) + " FLUSHALL"} {
		if out, _ := s.tries(refused); !strings.Contains(out, "NOAUTH") && !strings.Contains(out, "NOPERM") {
			t.Errorf("%s: %s", refused, out)
		}
	}
}
