package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// misused says what is wrong with a line that could not be understood. Where a flag is
// unknown to this command but not to others, it says why.
func misused(err error) error {
	var parse *kong.ParseError
	if !errors.As(err, &parse) || parse.Context == nil {
		return err
	}
	command := parse.Context.Selected()
	if command == nil {
		return err
	}
	for _, flag := range []string{"--redis", "--namespace"} {
		if rest, ok := strings.CutPrefix(err.Error(), "unknown flag "+flag); ok && (rest == "" || rest[0] == ',') {
			return fmt.Errorf("%s takes no %s: it needs the configuration, not only the queue; give --config FILE or COUNTERSIGN_CONFIG, "+
				"where redis.url and redis.namespace say which", command.Name, flag)
		}
	}
	return err
}
