package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"whittle/replay"
	"whittle/repros"
	"whittle/tools/whittle/axis"
)

// ownSettings stands for two files of settings: those of a repro are bad, and PyTorch's defaults are good.
const ownSettings = "own"

// none and all are the sets of differences that are tested first: the good configuration, and the bad one.
const none, all = "none", "all"

// bisectSettings are two configurations, and where they differ.
type bisectSettings struct {
	good, bad axis.Settings
	names     []string // of the differences; a set of them is named by its names with commas between
}

// readSettings reads the two files that --settings names.
func readSettings(list string) (*bisectSettings, error) {
	paths := strings.Split(list, ",")
	if len(paths) != 2 {
		return nil, usagef("--settings=%s: two files, GOOD,BAD", list)
	}
	good, err := axis.ReadSettings(paths[0])
	if err != nil {
		return nil, usageError{err}
	}
	bad, err := axis.ReadSettings(paths[1])
	if err != nil {
		return nil, usageError{err}
	}
	return newBisectSettings(good, bad)
}

func newBisectSettings(good, bad axis.Settings) (*bisectSettings, error) {
	s := &bisectSettings{good, bad, axis.Differences(good, bad)}
	if len(s.names) == 0 {
		return nil, usagef("--settings: the two configurations are the same")
	}
	return s, nil
}

// changes are what two configurations differ in: sets of them are the points of a bisection.
type changes interface {
	count() int
	point(set []int) string            // its name, the same in every run
	show(bad bool, set []int) []string // as the bad configuration has them, or as the good one
	said(point string) string          // a point, for people
}

// setName names a set of n things by their names.
func setName(n int, set []int, name func(i int) string) string {
	switch len(set) {
	case 0:
		return none
	case n:
		return all
	}
	var out []string
	for _, i := range set {
		out = append(out, name(i))
	}
	return strings.Join(out, ", ")
}

func (s *bisectSettings) count() int { return len(s.names) }

func (s *bisectSettings) said(point string) string { return short(point, len(s.names), "settings") }

// short is the name of a point, or where that is long how many of n it names.
func short(point string, n int, of string) string {
	if k := strings.Count(point, ", ") + 1; k > 3 {
		return fmt.Sprintf("%d of %d %s", k, n, of)
	}
	return point
}

func (s *bisectSettings) point(set []int) string {
	return setName(len(s.names), set, func(i int) string { return s.names[i] })
}

// at is the configuration that a point names.
func (s *bisectSettings) at(point string) axis.Settings {
	switch point {
	case none:
		return axis.Mix(s.good, s.bad, nil)
	case all:
		return axis.Mix(s.good, s.bad, s.names)
	}
	return axis.Mix(s.good, s.bad, strings.Split(point, ", "))
}

// key says what the configurations are.
func (s *bisectSettings) key() string {
	return replay.HashOf(fmt.Sprint(map[string]string(s.good)), fmt.Sprint(map[string]string(s.bad)))
}

func (s *bisectSettings) show(bad bool, set []int) []string {
	in, out := s.good, []string{}
	if bad {
		in = s.bad
	}
	for _, i := range set {
		out = append(out, in.Show(s.names[i]))
	}
	return out
}

// settingsOfCommand bisects the settings of a command: variables come by its environment, and PyTorch's settings as a Python file whose path stands for {}.
func (t *bisectTests) settingsOfCommand(c axis.Command) (*bisection, error) {
	s, err := readSettings(t.o.settings)
	if err != nil {
		return nil, err
	}
	python := slices.ContainsFunc(s.names, func(n string) bool { return !axis.IsVariable(n) })
	if python && !strings.Contains(strings.Join(c.Args, " "), axis.Place) {
		return nil, usagef("--settings: PyTorch's settings come in a Python file: put %s into the command where its path goes", axis.Place)
	}
	every := append(s.common(), s.names...)
	return &bisection{kind: "settings", subject: axis.Line(c.Args), key: replay.HashOf("settings", c.Key(), c.Limit.String(), s.key()), points: []string{none, all}, settings: s,
		test: func(ctx context.Context, point string, _ int) (reply, error) {
			now := s.at(point)
			dir, err := os.MkdirTemp("", "whittle-settings-")
			if err != nil {
				return reply{}, err
			}
			defer os.RemoveAll(dir)
			file := filepath.Join(dir, "settings.py")
			if err := os.WriteFile(file, []byte(now.Python()), 0o666); err != nil {
				return reply{}, err
			}
			a, err := c.Test(ctx, file, "", now.Environment(every))
			return reply{Answer: a}, err
		}}, nil
}

// common are the names that both configurations set alike.
func (s *bisectSettings) common() []string {
	var out []string
	for n, v := range s.good {
		if b, ok := s.bad[n]; ok && b == v {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out
}

// settingsOfRepro bisects the settings of a repro.
func (t *bisectTests) settingsOfRepro(file, path string, r *repros.Repro) (*bisection, error) {
	s, err := t.settingsFor(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for _, n := range append(s.common(), s.names...) {
		if axis.IsVariable(n) {
			return nil, usagef("--settings: %s is a variable of the environment: a repro has PyTorch's settings alone", n)
		}
	}
	return &bisection{kind: "settings", subject: t.name(file), engine: true, key: replay.HashOf("settings", repros.Write(r), t.o.torch, t.o.limit.String(), t.o.memory, s.key()),
		points: []string{none, all}, settings: s,
		test: func(ctx context.Context, point string, attempt int) (reply, error) {
			return t.engines.test(ctx, "", with(r, s, s.at(point)), filepath.Dir(path), attempt)
		}}, nil
}

func (t *bisectTests) settingsFor(r *repros.Repro) (*bisectSettings, error) {
	if t.o.settings != ownSettings {
		return readSettings(t.o.settings)
	}
	bad := axis.Settings{}
	for _, c := range r.Config {
		bad[c.Name] = c.Value
	}
	s, err := newBisectSettings(axis.Settings{}, bad)
	if err != nil {
		return nil, usageError{errors.New("the repro has no settings: --settings=GOOD,BAD names two files of them")}
	}
	return s, nil
}

// with is a repro with a configuration. Settings of its own that neither side names stay.
func with(r *repros.Repro, s *bisectSettings, now axis.Settings) *repros.Repro {
	x := *r
	x.Config = nil
	for _, c := range r.Config {
		_, inGood := s.good[c.Name]
		_, inBad := s.bad[c.Name]
		if v, ok := now[c.Name]; ok {
			x.Config = append(x.Config, repros.Setting{Name: c.Name, Value: v})
		} else if !inGood && !inBad {
			x.Config = append(x.Config, c)
		}
	}
	for _, n := range append(s.common(), s.names...) {
		if v, ok := now[n]; ok && !slices.ContainsFunc(x.Config, func(c repros.Setting) bool { return c.Name == n }) {
			x.Config = append(x.Config, repros.Setting{Name: n, Value: v})
		}
	}
	return &x
}
