package main

import (
	"countersign/config"
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
func demoConfig(places demoPlaces) config.Config {
	cfg := config.Default()
	cfg.Telegram.Token = config.NewSecret(places.token)
	cfg.Telegram.APIURL = places.api
	cfg.Redis.URL = config.NewRedisURL(places.redis)
	cfg.Redis.Namespace = "demo"
	cfg.People = []config.Person{
		{ID: demoAnn, Name: "Ann", Role: config.RoleOwner},
		{ID: demoOlga, Name: "Olga", Role: config.RoleOwner},
		{ID: demoBen, Name: "Ben", Role: config.RoleReader},
	}
	cfg.Routes = []config.RouteRule{
		{Match: config.Match{Runtime: demoLedger}, Chats: []config.Chat{{ID: demoPayments}}, Quorum: 2},
		{Match: config.Match{Kind: config.KindHalt}, Chats: []config.Chat{{ID: demoAnn}, {ID: demoOperations, Thread: places.halts}}, Quorum: 1},
	}
	cfg.Sweep.Schedule = "@every 1s"
	cfg.HTTP.Listen = "127.0.0.1:0"
	return cfg
}
