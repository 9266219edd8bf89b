package main

// demoCmd runs everything with nothing; being written.
type demoCmd struct {
	Listen string `help:"Where the chat page is served." default:"127.0.0.1:8080"`
}

// Run runs the demo.
func (c *demoCmd) Run(s *shell) error { return fail(exitNotDone, "the demo is not built yet") }
