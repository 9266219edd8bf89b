package main

import (
	"fmt"

	"countersign/simulator"
	"countersign/simulator/page"
)

// The people and groups of the demo.
const (
	demoAnn  = 1001
	demoBen  = 1002
	demoOlga = 1003
	demoSam  = 1004

	demoPayments   = -1001000000001 // a group
	demoOperations = -1001000000002 // a forum
)

// Names of the demo's runtimes, by which its routes tell them apart.
const (
	demoIris   = "iris"   // mail and calendar
	demoLedger = "ledger" // payments, which need two owners
	demoWarden = "warden" // watches runs and halts them
)

// demoPeople are those whom the user of the page can be.
func demoPeople() []page.Person {
	return []page.Person{
		{ID: demoAnn, Name: "Ann", Role: "owner"},
		{ID: demoOlga, Name: "Olga", Role: "owner"},
		{ID: demoBen, Name: "Ben", Role: "reader"},
		{ID: demoSam, Name: "Sam", Role: "stranger"},
	}
}

// demoPlaces say where things are in one demo.
type demoPlaces struct {
	token, api string // of the simulated Bot API
	redis      string // URL
	halts      int    // the topic where halts are asked
}

// populate makes the people, who have all started the bot, and the groups.
func populate(s *simulator.Server) demoPlaces {
	var people []*simulator.Person
	for _, p := range demoPeople() {
		person := s.AddUser(p.ID, p.Name)
		person.Start()
		people = append(people, person)
	}
	s.AddSupergroup(demoPayments, "Payments", people...)
	operations := s.AddForum(demoOperations, "Operations", people...)
	places := demoPlaces{halts: int(operations.AddTopic("Halts"))}
	operations.AddTopic("Chatter")
	return places
}

// demoConfig is the configuration that somebody would write for this world. Limits and
// waits are the defaults, so that it feels as in earnest; only sweeps come more often.
func demoConfig(at demoPlaces, pace demoPace) []byte {
	limits := ""
	if !pace.limits {
		limits = ", limits: {per_second: 0, chat_per_second: 0, group_per_minute: 0}"
	}
	return fmt.Appendf(nil, `
telegram: {token: %q, api_url: %q%s}
redis: {url: %q, namespace: demo}
people:
  - {id: %d, name: Ann, role: owner}
  - {id: %d, name: Olga, role: owner}
  - {id: %d, name: Ben, role: reader}
routes:
  - {match: {runtime: %s}, chats: [{id: %d}], quorum: 2}
  - {match: {kind: halt}, chats: [{id: %d}, {id: %d, thread: %d}]}
confirm: {dwell: %s}
sweep: {schedule: "@every 1s"}
http: {listen: "127.0.0.1:0"}
log: {level: warn, format: console}
`, at.token, at.api, limits, at.redis, demoAnn, demoOlga, demoBen, demoLedger, demoPayments, demoAnn, demoOperations, at.halts, pace.dwell)
}
