// Package countersign holds what the program carries with it from the top of the tree.
package countersign

import (
	_ "embed"
	"slices"
)

//go:embed config.example.yaml
var exampleConfig []byte

// ExampleConfig returns the commented example configuration, as YAML. The caller owns
// the bytes.
func ExampleConfig() []byte { return slices.Clone(exampleConfig) }
