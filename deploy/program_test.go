package deploy_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign/simulator"
	"countersign/store/storetest"
)

// dockerfile is the one for an image, in the order in which it is carried out.
const dockerfile = "../Dockerfile"

// A built is the program as the Dockerfile builds it.
type built struct {
	tree   string // a copy of the sources, without the repository
	binary string
	log    string // what the steps printed
}

// build carries out the steps of the Dockerfile's build stage, once, in a copy of what
// the image's build is given.
var build = sync.OnceValues(func() (built, error) {
	top, err := os.MkdirTemp("", "image")
	if err != nil {
		return built{}, err
	}
	b := built{tree: filepath.Join(top, "src"), binary: filepath.Join(top, "out", "countersign")}
	if err := copyTree("..", b.tree); err != nil {
		return b, err
	}
	stage, err := buildStage()
	if err != nil {
		return b, err
	}
	for _, step := range stage {
		// /out is the stage's own folder.
		script := regexp.MustCompile(`(^|[ =])/out/`).ReplaceAllString(step, "${1}"+filepath.Join(top, "out")+"/")
		cmd := exec.Command("sh", "-euc", script)
		cmd.Dir = b.tree
		cmd.Env = append(os.Environ(), "VERSION=v0.0.0-test")
		out, err := cmd.CombinedOutput()
		b.log += string(out)
		if err != nil {
			return b, fmt.Errorf("%s: %w\n%s", step, err, out)
		}
	}
	return b, nil
})

// TestMain removes what was built.
func TestMain(m *testing.M) {
	code := m.Run()
	if b, err := build(); err == nil && b.tree != "" {
		_ = os.RemoveAll(filepath.Dir(b.tree))
	}
	os.Exit(code)
}

// program is the binary.
func program(t *testing.T) string {
	t.Helper()
	b, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return b.binary
}

// buildStage are the RUN lines of the first stage, each as a shell gets it.
func buildStage() ([]string, error) {
	text, err := os.ReadFile(dockerfile)
	if err != nil {
		return nil, err
	}
	var steps []string
	stages := 0
	for _, line := range instructions(string(text)) {
		switch {
		case strings.HasPrefix(line, "FROM "):
			stages++
		case stages == 1 && strings.HasPrefix(line, "RUN "):
			step := strings.TrimPrefix(line, "RUN ")
			// A mount is a cache, and no part of what is run.
			steps = append(steps, regexp.MustCompile(`--mount=\S+ +`).ReplaceAllString(step, ""))
		}
	}
	if len(steps) == 0 {
		return nil, errors.New("the Dockerfile builds nothing")
	}
	return steps, nil
}

// instructions are a Dockerfile's, without comments, each on one line.
func instructions(text string) []string {
	var all []string
	for line := range strings.Lines(regexp.MustCompile(`(?m)^\s*#.*\n`).ReplaceAllString(text, "")) {
		all = append(all, line)
	}
	joined := regexp.MustCompile(`\\\n\s*`).ReplaceAllString(strings.Join(all, ""), "")
	var out []string
	for line := range strings.Lines(joined) {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return out
}

// copyTree copies what the build of an image is given: all but what .dockerignore names
// and the repository itself, which need not be there.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		target := filepath.Join(to, relative)
		switch base := d.Name(); {
		case d.IsDir() && (base == ".git" || base == "node_modules" || relative == "bin" || relative == "docs"):
			return filepath.SkipDir
		case d.IsDir():
			return os.MkdirAll(target, 0o755)
		case !d.Type().IsRegular():
			return nil
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(target, data, 0o644)
	})
}

// The people of the tests.
const (
	annID = 1001
	samID = 1004
	token = "7000000:test-token-of-the-local-bot"
)

// A site is where the program is set up: a folder, a Redis of its own and a Bot API
// server with people.
type site struct {
	t      *testing.T
	dir    string
	listen string // for health, free just now
	port   string // of the Redis that is spoken to
	redis  *storetest.Server
	sim    *simulator.Server
	url    string // of the Bot API server
	ann    *simulator.Person
	sam    *simulator.Person
}

// newSite is nil where there is no redis-server, and none is required.
func newSite(t *testing.T, redisArgs ...string) *site {
	t.Helper()
	server := storetest.Own(t, append([]string{"--appendonly", "yes"}, redisArgs...)...)
	if server == nil {
		t.Log("no redis-server on the PATH")
		return nil
	}
	s := &site{t: t, dir: t.TempDir(), listen: freeAddress(t), redis: server}
	s.sim = simulator.New(simulator.Options{Now: time.Now, Token: token, Username: "countersign_bot", Name: "Countersign"})
	t.Cleanup(func() { _ = s.sim.Close() })
	var err error
	if s.url, err = s.sim.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	s.ann, s.sam = s.sim.AddUser(annID, "Ann"), s.sim.AddUser(samID, "Sam")
	return s
}

// runs runs the program to its end, and returns what it said and its exit code.
func (s *site) runs(environ []string, args ...string) (stdout, stderr string, code int) {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), program(s.t), args...)
	cmd.Dir, cmd.Env = s.dir, append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir}, environ...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		s.t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// calls calls the Bot API by hand.
func (s *site) calls(method, params string) {
	s.t.Helper()
	answer, err := http.Post(s.url+"/bot"+token+"/"+method, "application/json", strings.NewReader(params))
	if err != nil {
		s.t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		s.t.Fatalf("%s: %s", method, answer.Status)
	}
}

// freeAddress is an address that nobody listens on just now.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
