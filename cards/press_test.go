package cards_test

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"countersign/cards"
)

func TestPressIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := cards.Press{
			Letter: rapid.SampledFrom([]byte("aycrepwu")).Draw(t, "letter"),
			Card:   rapid.StringMatching(`[A-Za-z0-9_-]{1,22}`).Draw(t, "card"),
			Rev:    rapid.Int64Range(0, math.MaxInt64).Draw(t, "rev"),
			Arg:    rapid.IntRange(0, 5000).Draw(t, "arg"),
		}
		data := want.Data()
		if len(data) > 42 {
			t.Fatalf("%q is %d bytes", data, len(data))
		}
		got, err := cards.ParsePress(data)
		if err != nil || got != want {
			t.Fatalf("ParsePress(%q) = %+v, %v; want %+v", data, got, err, want)
		}
	})
}

func TestParsePressRefuses(t *testing.T) {
	for rule, data := range map[string]string{
		"empty":                 "",
		"a letter alone":        "a",
		"no card":               "a.1",
		"no revision":           "aabc",
		"an empty revision":     "aabc.",
		"an unknown letter":     "zabc.1",
		"a card too long":       "aabcdefghijklmnopqrstuvw.1",
		"a card out of bounds":  "aab c.1",
		"a negative revision":   "aabc.-1",
		"a revision too large":  "aabc.zzzzzzzzzzzzzz",
		"a leading zero":        "aabc.01",
		"an upper-case digit":   "aabc.A",
		"a sign":                "aabc.+1",
		"an argument of zero":   "pabc.1.0",
		"an empty argument":     "pabc.1.",
		"an argument too large": "pabc.1.zzz",
		"a fourth part":         "pabc.1.1.1",
		"another bot's":         `{"action":"approve"}`,
		"over 64 bytes":         "aabc.1.1aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	} {
		t.Run(rule, func(t *testing.T) {
			if p, err := cards.ParsePress(data); !errors.Is(err, cards.ErrPress) {
				t.Errorf("ParsePress(%q) = %+v, %v; want an ErrPress", data, p, err)
			}
		})
	}
}

func FuzzParsePress(f *testing.F) {
	for _, s := range []string{"", "aZm9v.7", "pZm9v.7.2", "yA.zz", "eA.0.1", "a..", "uabcdefghijklmnopqrst_-.1y2p0ij32e8e7"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, data string) {
		p, err := cards.ParsePress(data)
		switch {
		case err != nil && !errors.Is(err, cards.ErrPress):
			t.Fatalf("error %v", err)
		case err == nil && p.Data() != data:
			t.Fatalf("%q is read as %+v, which is written %q", data, p, p.Data())
		}
	})
}
