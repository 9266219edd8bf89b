// Package countersign holds what the program carries with it from the top of the tree.
package countersign

import (
	_ "embed"
	"slices"
)

//go:embed config.example.yaml
var exampleConfig []byte

//go:embed deploy/redis.acl
var redisACL string

// RedisACL returns the ACL file for Redis: one user for each role, in the namespace
// approvals, none with a password yet.
func RedisACL() string { return redisACL }

// ExampleConfig returns the commented example configuration, as YAML. The caller owns
// the bytes.
func ExampleConfig() []byte { return slices.Clone(exampleConfig) }
