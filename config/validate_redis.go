package config

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
)

var (
	namespaceShape = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)
	databasePath   = regexp.MustCompile(`^/?[0-9]*$`)
)

// ownKeys are the names below a namespace that the bot itself writes; those that end
// in a colon stand for all that begins with them.
var ownKeys = []string{"answers", "answer:", "row:", "claim:", "deadlines", "dead", "audit", "audit:", "alive", "bot:"}

func checkRedis(f *findings, r *Redis) {
	if r.URLFile == "" || !r.URL.Empty() {
		checkRedisURL(f, r)
	}
	checkRedisTLS(f, r)
	if len(r.Namespace) > 64 || !namespaceShape.MatchString(r.Namespace) {
		f.add("redis.namespace", "%s is not a namespace; want 1–64 of A-Za-z0-9._-", quote(r.Namespace))
		return // every key below would be reported as well
	}
	first := make(map[string]int)
	for i, s := range r.Streams {
		key := element("redis.streams", i)
		checkStreamKey(f, child(key, "key"), s.Key, r)
		if j, twice := first[s.Key]; twice {
			f.add(child(key, "key"), "%s is also the key of %s; want one entry for each stream", quote(s.Key), element("redis.streams", j))
		} else {
			first[s.Key] = i
		}
		if len(s.Runtimes) == 0 {
			f.add(child(key, "runtimes"), `nobody could ask by this stream; want patterns, e.g. ["iris*"], or ["*"] for every runtime`)
		}
		for j, pattern := range s.Runtimes {
			if pattern == "" {
				f.add(element(child(key, "runtimes"), j), `the pattern is empty; want e.g. "iris*", or "*" for every runtime`)
			}
		}
		if s.IDs == "" {
			f.add(child(key, "ids"), `the pattern is empty; want e.g. "iris.*", or "*" for every id`)
		}
	}
}

// checkRedisURL never repeats the URL: where it is wrong, nobody knows what is its
// password.
func checkRedisURL(f *findings, r *Redis) {
	const key, want = "redis.url", "want redis://[user:password@]host:port/database, rediss:// for TLS, or unix://path"
	u, err := url.Parse(r.URL.Reveal())
	if err != nil {
		f.add(key, "this is not a URL; %s", want)
		return
	}
	switch u.Scheme {
	case "redis", "rediss":
		switch {
		case u.Hostname() == "":
			f.add(key, "the host is missing; %s", want)
		case !databasePath.MatchString(u.Path):
			f.add(key, "the database is not a number; %s", want)
		case r.Cluster && strings.Trim(u.Path, "/0") != "":
			f.add(key, "a cluster has only database 0; leave the number out")
		}
	case "unix":
		switch {
		case u.Path == "":
			f.add(key, "the path of the socket is missing; %s", want)
		case r.Cluster:
			f.add(key, "a cluster cannot be reached by a socket; want redis:// or rediss://")
		}
	default:
		f.add(key, "the scheme is not one of redis, rediss, unix; %s", want)
	}
}

// checkRedisTLS wants no certificate to be named in vain.
func checkRedisTLS(f *findings, r *Redis) {
	switch {
	case r.TLSCertFile != "" && r.TLSKeyFile == "":
		f.add("redis.tls_key_file", "tls_cert_file is given without it; want both, or neither where Redis asks for no certificate")
	case r.TLSCertFile == "" && r.TLSKeyFile != "":
		f.add("redis.tls_cert_file", "tls_key_file is given without it; want both, or neither where Redis asks for no certificate")
	}
	if r.URL.Empty() && r.URLFile != "" || strings.HasPrefix(r.URL.Reveal(), "rediss:") {
		return // the file may name either
	}
	for _, file := range []struct{ key, path string }{
		{"redis.tls_ca_file", r.TLSCAFile}, {"redis.tls_cert_file", r.TLSCertFile}, {"redis.tls_key_file", r.TLSKeyFile},
	} {
		if file.path != "" {
			f.add(file.key, "without TLS it would not be used; want rediss:// in redis.url, or leave it out")
		}
	}
}

func checkStreamKey(f *findings, key, stream string, r *Redis) {
	tag := "{" + r.Namespace + "}"
	if stream == "" {
		f.add(key, "it is empty; want the name of a Redis stream, e.g. %s:requests", tag)
		return
	}
	if name, inside := strings.CutPrefix(stream, tag+":"); inside && isOwnKey(name) {
		f.add(key, "%s is a key that the bot itself writes; want another, e.g. %s:requests", quote(stream), tag)
	}
	if r.Cluster && hashTag(stream) != r.Namespace {
		f.add(key, "%s does not carry the hash tag %s, without which a cluster keeps it apart from the queue; want e.g. %s",
			quote(stream), tag, tag+":requests")
	}
}

func isOwnKey(name string) bool {
	return slices.ContainsFunc(ownKeys, func(own string) bool {
		return name == own || strings.HasSuffix(own, ":") && strings.HasPrefix(name, own)
	})
}

// hashTag is the part of a key that decides its slot in a cluster: what stands between
// the first brace and the next closing one; empty where there is none.
func hashTag(key string) string {
	_, rest, ok := strings.Cut(key, "{")
	if !ok {
		return ""
	}
	tag, _, ok := strings.Cut(rest, "}")
	if !ok {
		return ""
	}
	return tag
}
