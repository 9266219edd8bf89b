package handlers_test

import (
	"testing"

	"countersign/approval"
	"countersign/cards"
	"countersign/store"
)

// Whoever can write rows can withhold an approval, but no other than that one.
func TestABrokenRowHoldsUpNothing(t *testing.T) {
	t.Parallel()
	for name, breaks := range map[string]func(s *scene, key string){
		"a request that is no JSON": func(s *scene, key string) {
			s.ok(s.server.Client().HSet(s.Context(), key, "request", "{bad").Err())
		},
		"a key of another type": func(s *scene, key string) {
			s.ok(s.server.Client().Del(s.Context(), key).Err())
			s.ok(s.server.Client().Set(s.Context(), key, "x", 0).Err())
		},
	} {
		s := newScene(t)
		bad, good := s.open("a1", in(ann)), s.open("a2", in(ann))
		tap, other := s.tapped(bad, ann, s.press("a1", bad, cards.LetterReject, 0)), s.tapped(good, ann, s.press("a2", good, cards.LetterReject, 0))
		breaks(s, store.NewKeys(s.server.Namespace()).Row("a1"))
		s.handle(tap, s.written(ann, ann, "reject"), s.written(ann, ann, "/pending"), other)
		s.state("a2", approval.Rejected)
		if n := s.counted.of("updates_aside"); n != 2 {
			t.Errorf("%s: %d updates were set aside, want the tap and the word", name, n)
		}
	}
}
