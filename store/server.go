package store

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// A Server is what Redis says of itself. What it does not say is empty: hosted
// servers hide some of it, the embedded one nearly all.
type Server struct {
	Version  string // of Redis, or of the Redis that it is compatible with
	Run      string // changes whenever the server is started, and with a failover
	Role     string // master or slave, as Redis calls them
	Eviction string // maxmemory-policy
	AOF      string // "1" where it appends to a file, "0" where not
	Save     string // when it takes snapshots
	// SaveKnown reports whether Save is known, since "" means never.
	SaveKnown bool
}

// Server asks Redis about itself. The error says only that it could not be
// asked; what it does not tell is left empty.
func (s *Store) Server(ctx context.Context) (Server, error) {
	node, err := s.node(ctx)
	if err != nil {
		return Server{}, fmt.Errorf("store: server: %w", err)
	}
	pipe := node.Pipeline()
	there := pipe.Ping(ctx)
	sections := []string{"server", "replication", "memory", "persistence"}
	texts := make([]*redis.StringCmd, len(sections))
	for i, section := range sections {
		texts[i] = pipe.Info(ctx, section)
	}
	save := pipe.ConfigGet(ctx, "save")
	_, failed := pipe.Exec(ctx) // what each came to says more, but where none was sent
	err = there.Err()
	if err == nil && there.Val() == "" {
		err = failed
	}
	if err != nil {
		return Server{}, fmt.Errorf("store: server: %w", err)
	}
	told := map[string]string{}
	for _, text := range texts {
		maps.Copy(told, infoOf(text.Val())) // nothing where it does not know a section, or may not tell
	}
	about := Server{
		Version: told["redis_version"], Run: told["run_id"], Role: told["role"],
		Eviction: told["maxmemory_policy"], AOF: told["aof_enabled"],
	}
	if save.Err() == nil {
		about.Save, about.SaveKnown = save.Val()["save"], true
	}
	return about, ctx.Err()
}

// RunID tells one run of the server from every other: where it changes, Redis was
// started anew or another has taken its place, and what it acknowledged last may
// be lost. It is "" where the server does not tell.
func (s *Store) RunID(ctx context.Context) (string, error) {
	node, err := s.node(ctx)
	if err != nil {
		return "", fmt.Errorf("store: run of the server: %w", err)
	}
	text, err := node.Info(ctx, "server").Result()
	if err != nil {
		if perr := node.Ping(ctx).Err(); perr != nil {
			return "", fmt.Errorf("store: run of the server: %w", perr)
		}
		return "", ctx.Err() // it may not tell, or has no such section
	}
	return infoOf(text)["run_id"], nil
}

// infoOf reads lines of name:value.
func infoOf(text string) map[string]string {
	told := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			told[name] = value
		}
	}
	return told
}

// node is the one server that holds the namespace.
func (s *Store) node(ctx context.Context) (redis.UniversalClient, error) {
	if c, ok := s.rdb.(*redis.ClusterClient); ok {
		return c.MasterForKey(ctx, s.keys.Prefix())
	}
	return s.rdb, nil
}

// oldestMajor is the first major version that has all we use.
const oldestMajor = 7

// What there is to be said about a server.
const (
	AboutVersion     = "version"
	AboutRole        = "role"
	AboutEviction    = "eviction policy"
	AboutPersistence = "persistence"
)

// A Flaw is something about a server that puts approvals at risk, and what to do
// about it.
type Flaw struct{ About, What, Remedy string }

// Flaws lists what is wrong with a server, and what of it is not known.
func (s Server) Flaws() (flaws []Flaw, unknown []string) {
	major, _, _ := strings.Cut(s.Version, ".")
	switch n, err := strconv.Atoi(major); {
	case err != nil:
		unknown = append(unknown, AboutVersion)
	case n < oldestMajor:
		flaws = append(flaws, Flaw{AboutVersion, "Redis is of version " + s.Version, "7.0 or newer is needed; upgrade it, or use Valkey"})
	}
	switch s.Role {
	case "":
		unknown = append(unknown, AboutRole)
	case "slave":
		flaws = append(flaws, Flaw{AboutRole, "this Redis is a replica, which takes no writes", "let redis.url lead to the primary"})
	}
	switch s.Eviction {
	case "":
		unknown = append(unknown, AboutEviction)
	case "noeviction":
	default:
		flaws = append(flaws, Flaw{
			AboutEviction,
			"Redis may drop approvals and whole streams when its memory is full (maxmemory-policy " + s.Eviction + ")",
			"CONFIG SET maxmemory-policy noeviction, and the same in its configuration file",
		})
	}
	switch {
	case s.AOF == "1" || s.Save != "":
	case s.AOF == "" || !s.SaveKnown:
		unknown = append(unknown, AboutPersistence)
	default:
		flaws = append(flaws, Flaw{
			AboutPersistence,
			"Redis keeps nothing on disk: with a restart every approval is gone",
			"CONFIG SET appendonly yes, and the same in its configuration file",
		})
	}
	return flaws, unknown
}
