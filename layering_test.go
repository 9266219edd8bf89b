package countersign_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A room is one folder, and what its code may import beside the standard
// library. Tests of a room may import more; [TestRooms] reads no test files.
type room struct {
	why   string   // one reason for the row
	ours  []string // other rooms
	third []string // modules of others, by path prefix
	// lent marks code that serves tests alone: it may read the clock, the environment
	// and randomness, since the bot does so nowhere through it.
	lent bool
}

// rooms is the picture of the whole: nothing points upwards or sideways that is
// not named here.
func rooms() map[string]room {
	const (
		redis   = "github.com/redis/go-redis/v9"
		zerolog = "github.com/rs/zerolog"
		cron    = "github.com/robfig/cron/v3"
	)
	return map[string]room{
		".": {why: "carries the example configuration, and knows nothing"},

		"approval": {why: "the domain: pure", third: []string{"github.com/gowebpki/jcs"}},
		"schemas": {
			why:   "what is published of the events, and nothing else",
			third: []string{"github.com/santhosh-tekuri/jsonschema/v6", "golang.org/x/text"},
		},
		"policy": {
			why:  "a decision is a function of facts and the operator's file",
			ours: []string{"approval"}, third: []string{"golang.org/x/text"},
		},
		"cards": {
			why:  "a card is a function of a row, a view and a moment",
			ours: []string{"approval"}, third: []string{"golang.org/x/text"},
		},

		"store": {
			why:  "the only writer of rows and answers",
			ours: []string{"approval"}, third: []string{redis},
		},
		"store/storetest": {
			why: "lends tests a Redis", lent: true,
			ours: []string{".", "approval", "store"}, third: []string{redis, "github.com/alicebob/miniredis/v2"},
		},
		"queue": {
			why:  "streams in, and the client that runtimes use; knows no chat",
			ours: []string{"approval", "schemas", "store"}, third: []string{redis, zerolog},
		},
		"agents": {
			why:  "asks about the calls of coding agents, as a runtime; knows no chat",
			ours: []string{"approval", "queue"}, third: []string{"github.com/modelcontextprotocol/go-sdk", "github.com/rogpeppe/go-internal"},
		},
		"sweeper": {
			why:  "does what time asks for; knows no chat",
			ours: []string{"approval", "store"}, third: []string{cron, zerolog},
		},

		"telegram": {
			why:   "the only room that knows the Bot API; knows no approval",
			third: []string{"github.com/go-telegram/bot", zerolog},
		},
		"delivery": {
			why:  "brings cards in line with rows; reaches Redis through the store alone",
			ours: []string{"approval", "cards", "store", "telegram"}, third: []string{zerolog},
		},
		"handlers": {
			why:  "turns an update into a transition; what it says goes through an interface of its own",
			ours: []string{"approval", "cards", "store", "telegram"}, third: []string{zerolog},
		},

		"config": {
			why:   "reads the operator's file, and opens nothing",
			third: []string{"github.com/goccy/go-yaml", cron},
		},

		"doctor": {
			why:  "examines what the bot stands on, and changes nothing",
			ours: []string{"config", "store", "telegram"},
		},

		"setup": {
			why:  "asks at a terminal for what a configuration needs; what it asks goes through interfaces of its own",
			ours: []string{"config", "telegram"},
		},

		"simulator": {
			why:  "stands in for Telegram, so it must not share a mistake with the code it tests",
			ours: []string{"simulator/entities", "simulator/spec"},
		},
		"simulator/entities": {why: "Telegram's formatting rules, on their own"},
		"simulator/spec":     {why: "the Bot API's description, on its own"},
		"simulator/page":     {why: "a chat page over the simulator alone", ours: []string{"simulator", "simulator/entities"}},

		"examples/trash-one-email": {
			why: "what a runtime of somebody else's would write; nothing imports it", lent: true,
			ours: []string{"approval", "queue"}, third: []string{redis},
		},

		"chaos": {
			why: "a program of its own that tests the whole from outside; nothing imports it", lent: true,
			ours:  []string{"approval", "cards", "chaos/verdict", "queue", "simulator"},
			third: []string{redis},
		},
		"chaos/verdict": {why: "judges what a run left behind, and shares no code with what it judges"},

		"bench": {
			why: "a program of its own that measures the bot from outside; nothing imports it", lent: true,
			third: []string{redis, "github.com/go-telegram/bot"},
		},

		"cmd/bot": {
			why: "wires the rooms; the one place that reads the clock, randomness and the environment",
			ours: []string{
				".", "agents", "approval", "cards", "config", "delivery", "doctor", "handlers", "policy", "queue",
				"setup", "simulator", "simulator/page", "store", "sweeper", "telegram",
			},
			third: []string{
				redis, zerolog, cron, "github.com/alecthomas/kong", "github.com/alicebob/miniredis/v2",
				"github.com/modelcontextprotocol/go-sdk", "github.com/prometheus/client_golang", "golang.org/x/term",
			},
		},
	}
}

const wiring = "cmd/bot"

func TestRooms(t *testing.T) {
	known := rooms()
	for _, f := range sources(t) {
		if f.test {
			continue
		}
		row, ok := known[f.room]
		if !ok {
			t.Errorf("%s: the folder %s has no row in this test", f.path, f.room)
			continue
		}
		for _, imported := range f.imports() {
			if !row.allows(imported) {
				t.Errorf("%s imports %s; %s may not (%s)", f.path, imported, f.room, row.why)
			}
		}
	}
}

// The rooms hang together without a circle, and only the wiring sees all.
func TestRoomsPointDownwards(t *testing.T) {
	known := rooms()
	var reach func(name string, path []string)
	reach = func(name string, path []string) {
		if slices.Contains(path, name) {
			t.Fatalf("a circle: %s", strings.Join(append(path, name), " → "))
		}
		row, ok := known[name]
		if !ok {
			t.Fatalf("%s names %s, which has no row", path[len(path)-1], name)
		}
		for _, next := range row.ours {
			reach(next, append(path, name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		reach(name, nil)
		if name != wiring && slices.Contains(known[name].ours, wiring) {
			t.Errorf("%s may import %s", name, wiring)
		}
	}
}

// Time and randomness are arguments, settings come from the configuration, and
// nothing happens before main.
func TestNothingHidden(t *testing.T) {
	known := rooms()
	for _, f := range sources(t) {
		outer := f.room == wiring || f.test || known[f.room].lent
		for _, found := range f.hidden() {
			if found.always || !outer {
				t.Errorf("%s: %s", f.fset.Position(found.at), found.what)
			}
		}
	}
}

// The search of TestNothingHidden finds what it looks for.
func TestHiddenIsFound(t *testing.T) {
	const text = `package p
import ("crypto/rand"; clock "time"; "os"; "github.com/rs/zerolog/log")
func init() { clock.Sleep(clock.Until(clock.Now())) }
func (t) init() { os.ReadFile(os.Getenv("X")); other.Now(); rand.Text(); log.Print() }`
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, found := range (source{fset: fset, file: file}).hidden() {
		got = append(got, found.what)
	}
	want := []string{
		"imports crypto/rand", "imports github.com/rs/zerolog/log", "func init",
		"time.Sleep", "time.Until", "time.Now", "os.Getenv",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func (r room) allows(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	if first == "countersign" {
		name := path.Clean(strings.TrimPrefix(strings.TrimPrefix(imported, "countersign"), "/"))
		return slices.Contains(r.ours, name)
	}
	if !strings.Contains(first, ".") {
		return true // the standard library
	}
	return slices.ContainsFunc(r.third, func(module string) bool {
		return imported == module || strings.HasPrefix(imported, module+"/")
	})
}

// A source is one Go file of the tree.
type source struct {
	path string // slashed, from the top
	room string // the folder, "." for the top
	test bool
	fset *token.FileSet
	file *ast.File
}

// sources parses every Go file of the module; folders that are modules of their
// own or hold data are left out.
func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if d.IsDir() {
			base := d.Name()
			skip := base == "testdata" || base == "node_modules" || name == "tools" || strings.HasPrefix(base, ".") && name != "."
			if skip {
				return filepath.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		all = append(all, source{name, path.Dir(name), strings.HasSuffix(name, "_test.go"), fset, file})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < len(rooms()) {
		t.Fatalf("found only %d Go files", len(all))
	}
	return all
}

func (s source) imports() []string {
	var paths []string
	for _, spec := range s.file.Imports {
		paths = append(paths, importPath(spec))
	}
	return paths
}

func importPath(spec *ast.ImportSpec) string {
	p, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		panic("unreachable: the parser took it: " + err.Error())
	}
	return p
}

// A finding is something that a room should have been given, or should not do.
type finding struct {
	at     token.Pos
	what   string
	always bool // nowhere is right, not even in the wiring
}

// hidden finds what reads the clock, randomness or the environment, runs before
// main, or logs to a logger nobody passed.
func (s source) hidden() []finding {
	forbidden := map[string][]string{
		"time": {"Now", "Since", "Until", "Sleep", "Tick"},
		"os":   {"Getenv", "LookupEnv", "Environ", "ExpandEnv"},
	}
	var all []finding
	names := map[string]string{}                                       // package by its name in this file
	held := s.test && slices.Contains(s.imports(), "testing/synctest") // there time moves by sleeping
	for _, spec := range s.file.Imports {
		p := importPath(spec)
		names[path.Base(p)] = p
		if spec.Name != nil {
			names[spec.Name.Name] = p
		}
		switch p {
		case "math/rand", "math/rand/v2", "crypto/rand":
			all = append(all, finding{at: spec.Pos(), what: "imports " + p})
		case "github.com/rs/zerolog/log":
			all = append(all, finding{spec.Pos(), "imports " + p, true})
		}
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Name.Name == "init" && n.Recv == nil {
				all = append(all, finding{n.Pos(), "func init", true})
			}
		case *ast.SelectorExpr:
			x, ok := n.X.(*ast.Ident)
			if !ok || !slices.Contains(forbidden[names[x.Name]], n.Sel.Name) {
				break
			}
			what := fmt.Sprintf("%s.%s", names[x.Name], n.Sel.Name)
			all = append(all, finding{n.Pos(), what, n.Sel.Name == "Sleep" && !held})
		}
		return true
	})
	return all
}
