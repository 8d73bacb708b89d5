package axis

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
)

// Settings are a configuration by name: variables of the environment, and settings of PyTorch's with their values as Python text, such as
// torch._inductor.config.cpp.simdlen.
type Settings map[string]string

var (
	reVariable = regexp.MustCompile(`^([A-Za-z_]\w*)=(.*)$`)
	rePyTorch  = regexp.MustCompile(`^(torch(?:\.\w+)*\.config(?:\.\w+)+)\s*=\s*(\S.*)$`)
)

// ReadSettings reads a file of lines NAME=VALUE and torch._inductor.config.NAME = VALUE. Empty lines and those that begin with # say nothing.
func ReadSettings(path string) (Settings, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s := Settings{}
	for i, line := range strings.Split(string(text), "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		m := rePyTorch.FindStringSubmatch(line)
		if m == nil {
			m = reVariable.FindStringSubmatch(line)
		}
		if m == nil {
			return nil, fmt.Errorf("%s:%d: neither NAME=VALUE nor torch._inductor.config.NAME = VALUE: %.80s", path, i+1, line)
		}
		if _, ok := s[m[1]]; ok {
			return nil, fmt.Errorf("%s:%d: %s is set twice", path, i+1, m[1])
		}
		s[m[1]] = m[2]
	}
	return s, nil
}

// Differences are the names whose values differ, in order. A name that is not set is a value, too.
func Differences(good, bad Settings) []string {
	both := maps.Clone(good)
	maps.Copy(both, bad)
	maps.DeleteFunc(both, func(name, _ string) bool {
		g, inGood := good[name]
		b, inBad := bad[name]
		return inGood == inBad && g == b
	})
	return slices.Sorted(maps.Keys(both))
}

// Mix is the good configuration with some names as in the bad one.
func Mix(good, bad Settings, names []string) Settings {
	out := maps.Clone(good)
	for _, n := range names {
		if v, ok := bad[n]; ok {
			out[n] = v
		} else {
			delete(out, n)
		}
	}
	return out
}

// Show is one of them as it stands in a file, or that it is not set.
func (s Settings) Show(name string) string {
	v, ok := s[name]
	switch {
	case !ok:
		return name + " not set"
	case IsVariable(name):
		return name + "=" + v
	}
	return name + " = " + v
}

// IsVariable reports whether a name is that of a variable of the environment.
func IsVariable(name string) bool { return !strings.Contains(name, ".") }

// Environment is what the variables among some names are, for Command.Test.
func (s Settings) Environment(names []string) []string {
	var out []string
	for _, n := range names {
		if !IsVariable(n) {
			continue
		}
		if v, ok := s[n]; ok {
			n += "=" + v
		}
		out = append(out, n)
	}
	return out
}

// Python sets PyTorch's settings.
func (s Settings) Python() string {
	var imports, lines []string
	for _, n := range slices.Sorted(maps.Keys(s)) {
		if !IsVariable(n) {
			at := strings.Index(n, ".config.") + len(".config")
			imports = append(imports, "import "+n[:at]+"\n")
			lines = append(lines, s.Show(n)+"\n")
		}
	}
	slices.Sort(imports)
	return strings.Join(append(slices.Compact(imports), lines...), "")
}
