package store_test

import (
	"slices"
	"strings"
	"testing"

	"countersign/store"
	"countersign/store/storetest"
)

// What a server says of itself is read from each; the embedded one says nearly
// nothing, which is no error.
func TestServer(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *storetest.Server) {
		st, err := store.New(s.Client(), storetest.Options(s))
		if err != nil {
			t.Fatal(err)
		}
		about, err := st.Server(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		flaws, unknown := about.Flaws()
		if s.IsEmbedded() {
			if len(flaws) != 0 || len(unknown) == 0 {
				t.Errorf("flaws %v, unknown %v", flaws, unknown)
			}
			return
		}
		if about.Run == "" || about.Role != "master" || about.Version == "" || about.Eviction != "noeviction" {
			t.Errorf("%+v", about)
		}
		// The tests' server keeps nothing on disk.
		if len(flaws) != 1 || !strings.Contains(flaws[0].What, "on disk") || len(unknown) != 0 {
			t.Errorf("flaws %v, unknown %v", flaws, unknown)
		}
	})
}

// Without the right to read Redis's configuration the bot learns the rest all the same,
// and takes nothing for granted.
func TestServerByTheBot(t *testing.T) {
	t.Parallel()
	s := storetest.Real(t)
	if s == nil {
		return // the embedded server tells nothing of itself
	}
	about, err := storetest.NewStore(t, s).Server(t.Context())
	if err != nil || about.Run == "" || about.Role != "master" || about.Version == "" || about.Eviction != "noeviction" {
		t.Errorf("%+v (%v)", about, err)
	}
	flaws, unknown := about.Flaws()
	if len(flaws) != 0 || !slices.Equal(unknown, []string{"persistence"}) {
		t.Errorf("flaws %v, unknown %v", flaws, unknown)
	}
}

// A server that cannot be reached is an error, not one that says nothing.
func TestServerAway(t *testing.T) {
	t.Parallel()
	s := storetest.Embedded(t)
	s.Fail("LOADING Redis is loading the dataset in memory")
	if _, err := storetest.NewStore(t, s).Server(t.Context()); err == nil {
		t.Error("no error")
	}
}

func TestFlaws(t *testing.T) {
	t.Parallel()
	good := store.Server{Version: "7.0.15", Role: "master", Eviction: "noeviction", AOF: "1", SaveKnown: true}
	for _, c := range []struct {
		name    string
		change  func(*store.Server)
		flaw    string // a part of it, "" for none
		unknown string // "" for nothing
	}{
		{"good", func(*store.Server) {}, "", ""},
		{"snapshots alone", func(s *store.Server) { s.AOF, s.Save = "0", "3600 1" }, "", ""},
		{"later versions", func(s *store.Server) { s.Version = "10.2.0" }, "", ""},
		{"old", func(s *store.Server) { s.Version = "6.2.14" }, "6.2.14", ""},
		{"version untold", func(s *store.Server) { s.Version = "" }, "", "version"},
		{"evicting", func(s *store.Server) { s.Eviction = "allkeys-lru" }, "allkeys-lru", ""},
		{"evicting what expires", func(s *store.Server) { s.Eviction = "volatile-ttl" }, "volatile-ttl", ""},
		{"eviction untold", func(s *store.Server) { s.Eviction = "" }, "", "eviction policy"},
		{"nothing on disk", func(s *store.Server) { s.AOF = "0" }, "nothing on disk", ""},
		{"no AOF, snapshots untold", func(s *store.Server) { s.AOF, s.SaveKnown = "0", false }, "", "persistence"},
		{"persistence untold", func(s *store.Server) { s.AOF, s.SaveKnown = "", false }, "", "persistence"},
		{"replica", func(s *store.Server) { s.Role = "slave" }, "replica", ""},
		{"role untold", func(s *store.Server) { s.Role = "" }, "", "role"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := good
			c.change(&s)
			flaws, unknown := s.Flaws()
			if c.flaw == "" && len(flaws) != 0 {
				t.Errorf("flaws: %v", flaws)
			}
			if c.flaw != "" && (len(flaws) != 1 || !strings.Contains(flaws[0].What, c.flaw) || flaws[0].Remedy == "") {
				t.Errorf("flaws: %v, want one about %q with a remedy", flaws, c.flaw)
			}
			if want := strings.Fields(c.unknown); len(want) == 0 && len(unknown) != 0 || len(want) > 0 && !slices.Equal(unknown, []string{c.unknown}) {
				t.Errorf("unknown: %v, want %q", unknown, c.unknown)
			}
		})
	}
}
