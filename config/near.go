package config

import (
	"fmt"
	"strings"
)

// didYouMean returns `, did you mean "x"?` for the candidate nearest to name, or
// nothing where none is near.
func didYouMean(name string, candidates []string) string {
	best, least := "", len(name)/3+2
	for _, c := range candidates {
		if d := distance(strings.ToLower(name), strings.ToLower(c), least); d < least {
			best, least = c, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %s?)", best)
}

// distance counts the letters to insert, delete or change between a and b, or returns
// most where that is not below it.
func distance(a, b string, most int) int {
	if max(len(a)-len(b), len(b)-len(a)) >= most {
		return most
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := corner
			if a[i] != b[j] {
				change++
			}
			corner = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return min(row[len(b)], most)
}
