package simulator

import (
	_ "embed"
	"sync"

	"countersign/simulator/spec"
)

//go:embed data/bot-api.json
var botAPI []byte

//go:embed data/telegram-errors.json
var telegramErrors []byte

// loadData reads the embedded files, once for all servers; the results never change.
var loadData = sync.OnceValues(func() (*spec.API, catalogue) {
	api, err := spec.Load(botAPI)
	if err != nil {
		panic(err) // the file is part of the program
	}
	errs, err := newCatalogue(telegramErrors)
	if err != nil {
		panic(err)
	}
	return api, errs
})
