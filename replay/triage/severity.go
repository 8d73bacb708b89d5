package triage

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"sync"

	"whittle/replay"
)

// Severity is how bad a bug is, and why.
type Severity struct {
	Score int      `json:"score"` // 0 to 100
	Why   []string `json:"why"`   // what the number is made of
}

// base is what each kind is worth. Wrong results come first: nobody is told. A crash takes the process, and its data, along; a hang takes the machine's time until
// somebody looks; an error says what it is, and torch._dynamo.config.suppress_errors or the eager backend goes around it.
var base = map[Kind]int{Wrong: 60, Crash: 50, Hang: 45, Memory: 40, Exit: 35, Error: 30}

// The groups that a replay.Reader lists have the same score. What cannot be read of an example is not known.
func init() {
	replay.RateGroups(func(features string, members, origins int, rate float64) int {
		f, err := ParseFeatures(features)
		if err != nil {
			f = Features{}
		}
		return Rate(replay.Group{Members: members, Origins: origins, Rate: rate}, f).Score
	})
}

// reRMSE finds how large a divergence is, where it is told.
var reRMSE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)rmse\D{0,12}([0-9.]+(?:e[-+]?\d+)?)`) })

// Rate says how bad a group is, by its example's features and by its counts.
func Rate(g replay.Group, f Features) Severity {
	var s Severity
	add := func(n int, format string, args ...any) {
		if n != 0 {
			s.Score += n
			s.Why = append(s.Why, fmt.Sprintf(format, args...)+fmt.Sprintf(" (%+d)", n))
		}
	}
	kind := f.Kind
	if base[kind] == 0 {
		kind = Error
	}
	add(base[kind], "%s", kind)
	if f.Stage == "run" && kind == Error {
		add(5, "at run time, when no fallback is left")
	}
	if m := reRMSE().FindStringSubmatch(f.Divergence); m != nil {
		if v, err := strconv.ParseFloat(m[1], 64); err == nil && v > 0 {
			add(max(0, min(10, 8+int(2*math.Log10(v)))), "RMSE %.3g", v)
		}
	}
	if g.Members > 1 {
		add(min(12, int(2*math.Log2(float64(g.Members)))), "%s", replay.Count(g.Members, "failure"))
	}
	if g.Origins > 1 {
		add(min(12, int(3*math.Log2(float64(g.Origins)))), "from %s", replay.Count(g.Origins, "place"))
	}
	if f.Minimal && len(f.Settings) > 0 {
		add(-5, "needs settings that are not default")
	}
	if f.Backend != "" {
		add(-15, "in a backend of the program's own")
	}
	if g.Rate > 0 && g.Rate < 1 {
		add(-5, "fails in %.0f %% of runs", 100*g.Rate)
	}
	s.Score = max(0, min(100, s.Score))
	return s
}
