package trace

import (
	"encoding/json"
	"math"
	"slices"
	"sort"
	"strings"
)

// A Span is a phase, from its beginning to its end, in microseconds since 1970.
type Span struct {
	Name  string  `json:"n"`
	At    float64 `json:"a"`
	For   float64 `json:"f"`
	Self  float64 `json:"s"` // without the phases in it
	Depth int     `json:"d"`
	Open  bool    `json:"o,omitempty"` // its end is not in the trace
	Note  string  `json:"w,omitempty"`
}

// event is a record of the form that Chromium's tracing has.
type event struct {
	name, ph string
	ts, dur  float64
	note     string
}

// event keeps what is needed of an event. Its arguments repeat other records, and are left.
func (c *Compile) event(r *Record) {
	text := unindentedEvent(r)
	var v struct {
		Name, Ph string
		Ts, Dur  float64
		Args     struct {
			Function string `json:"fn_name"`
		}
	}
	if len(text) == 0 || json.Unmarshal(text, &v) != nil || math.IsNaN(v.Ts) || math.IsInf(v.Ts, 0) {
		c.other(r)
		return
	}
	e := event{name: v.Name, ph: v.Ph, ts: v.Ts, dur: v.Dur}
	if f := v.Args.Function; f != "" && f != v.Name {
		e.note = f
	}
	c.events = append(c.events, e)
}

// unindentedEvent is the payload; JSON does not mind the tabs, nor that it stands beside the kind.
func unindentedEvent(r *Record) []byte {
	if len(r.indented) > 0 {
		return r.indented
	}
	return r.Meta
}

// nest pairs beginnings with ends, and says what lies in what. An end without a beginning is left out; a beginning without an end lasts as long as what is around it.
func nest(events []event) []Span {
	if len(events) == 0 {
		return nil
	}
	events = slices.Clone(events)
	sort.SliceStable(events, func(i, j int) bool { return events[i].ts < events[j].ts })
	var out []Span
	var open []int
	end := events[len(events)-1].ts
	for _, e := range events {
		switch e.ph {
		case "B":
			open = append(open, len(out))
			out = append(out, Span{Name: e.name, At: e.ts, For: -1, Depth: len(open) - 1, Note: e.note})
		case "E":
			for i := len(open) - 1; i >= 0; i-- {
				if out[open[i]].Name == e.name {
					for _, j := range open[i+1:] { // what should have ended before
						out[j].For, out[j].Open = e.ts-out[j].At, true
					}
					out[open[i]].For = e.ts - out[open[i]].At
					open = open[:i]
					break
				}
			}
		case "X":
			out = append(out, Span{Name: e.name, At: e.ts, For: max(e.dur, 0), Depth: len(open), Note: e.note})
		case "i", "I":
			out = append(out, Span{Name: e.name, At: e.ts, Depth: len(open), Note: e.note})
		}
	}
	for _, j := range open {
		out[j].For, out[j].Open = max(end-out[j].At, 0), true
	}
	var around []int
	for i := range out {
		s := &out[i]
		s.Self = s.For
		for len(around) > 0 && out[around[len(around)-1]].Depth >= s.Depth {
			around = around[:len(around)-1]
		}
		if len(around) > 0 {
			p := &out[around[len(around)-1]]
			p.Self = max(p.Self-s.For, 0)
		}
		around = append(around, i)
	}
	return out
}

// A Phase is what all phases of a name took.
type Phase struct {
	Name        string
	N           int
	Total, Self float64
}

// phases adds the phases of all compilations up, the longest first by the time that is theirs alone. A phase within one of its own name adds no total.
func phases(spans ...[]Span) []Phase {
	at := map[string]int{}
	var out []Phase
	for _, list := range spans {
		var around []Span
		for _, s := range list {
			if s.For == 0 && strings.Contains(s.Name, "cache_") {
				continue
			}
			i, ok := at[s.Name]
			if !ok {
				i = len(out)
				at[s.Name] = i
				out = append(out, Phase{Name: s.Name})
			}
			for len(around) > 0 && around[len(around)-1].Depth >= s.Depth {
				around = around[:len(around)-1]
			}
			out[i].N++
			out[i].Self += s.Self
			if !slices.ContainsFunc(around, func(o Span) bool { return o.Name == s.Name }) {
				out[i].Total += s.For
			}
			around = append(around, s)
		}
	}
	slices.SortStableFunc(out, func(a, b Phase) int {
		switch {
		case a.Self > b.Self:
			return -1
		case a.Self < b.Self:
			return 1
		}
		return 0
	})
	return out
}
