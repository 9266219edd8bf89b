package main

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"testing"
	"time"

	"countersign/config"
	"countersign/store"
)

// A bot without a key ends as soon as another one signs: it could not tell whether a
// row is still what was asked, and would go on drawing cards.
func TestWithoutAKeyNobodyServesBesideOneThatSigns(t *testing.T) {
	t.Parallel()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	key := config.NewSecret(string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})))
	inBubble(t, func(w *bubble) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		old := w.build("old", &life{})
		ended := make(chan error, 1)
		go func() { ended <- old.Run(ctx) }()
		w.pass(30 * time.Second)
		select {
		case err := <-ended:
			t.Fatalf("it ended with nobody beside it: %v", err)
		default:
		}

		w.cfg.Audit.SigningKey = key
		w.run("new", &life{})
		w.pass(aliveEvery + stopWithin)
		select {
		case err := <-ended:
			if !errors.Is(err, store.ErrNamespaceSigns) {
				t.Errorf("it ended with %v", err)
			}
		default:
			t.Error("it goes on without a key")
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		w.ok(old.Close())
		w.ask("a1", "iris", time.Hour)
		w.has(time.Minute, annID, "a1", "Trash it")
	})
}
