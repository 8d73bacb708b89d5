// Package choice asks, of each decision that a compiler can do without, whether to take it.
//
// Passes, decompositions, lowerings and fusions ask a Matcher by a text that is the same from run to run. So a bisection can switch each of them off, alone
// and together, and name the ones that decide whether something fails. The idea is that of Go's internal/bisect.
package choice

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"sync"
)

// Choice is one decision that was asked about.
type Choice struct {
	ID    string // a hash of the kind, of what is decided, and of how often that came before: the same from run to run
	Kind  string // lowerings, decomposition, fusion, ...
	Text  string // for people
	Where string // the user's line: file:line: text; "" where it is not known
}

// A Matcher says which choices are taken. A nil one takes all. It may be asked from many goroutines; ids are the same from run to run only as far as the order
// of the questions is.
type Matcher struct {
	Kinds []string     // those of which any is taken; nil => all
	Only  []string     // ids of those that are taken, of these kinds; nil => all
	Seen  func(Choice) // is told of each choice of these kinds, taken or not; nil => nobody

	mu    sync.Mutex
	times map[[2]string]int
}

// Take reports whether a choice is taken. what tells it from the others of its kind, and does not change from run to run; shown is what people read, "" for
// the same; where is the user's line.
func (m *Matcher) Take(kind, what, shown, where string) bool {
	if m == nil {
		return true
	}
	if m.Kinds != nil && !slices.Contains(m.Kinds, kind) {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.times == nil {
		m.times = map[[2]string]int{}
	}
	key := [2]string{kind, what}
	m.times[key]++
	if shown == "" {
		shown = what
	}
	c := Choice{ID: id(kind, what, m.times[key]), Kind: kind, Text: shown, Where: where}
	if m.Seen != nil {
		m.Seen(c)
	}
	return m.Only == nil || slices.Contains(m.Only, c.ID)
}

// id names the n-th choice of a kind about what.
func id(kind, what string, n int) string {
	h := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%d", kind, what, n))
	return hex.EncodeToString(h[:6])
}
