package nightly

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"whittle/tools/whittle/axis"
)

// Config is what a bot tests, with what, and where it reports. ReadConfig fills and checks it.
type Config struct {
	Path       string     `toml:"-"`
	Name       string     `toml:"name"` // of the bot: its history in the store is kept under it
	Engines    []Engines  `toml:"engine"`
	Corpora    []Corpus   `toml:"corpus"`
	Modes      []Mode     `toml:"mode"` // none => each case as it is
	Limits     Limits     `toml:"limits"`
	Thresholds Thresholds `toml:"thresholds"`
	Report     Output     `toml:"report"`
}

// Engines are one version, or several that are started alike.
type Engines struct {
	Version      string   `toml:"version"`
	Versions     []string `toml:"versions"`      // oldest first
	VersionsFrom string   `toml:"versions_from"` // command, by the shell, that prints them, one a line, oldest first; two at least
	Torch        string   `toml:"torch"`         // command that starts a Python with torch; {} stands for the version
	Command      string   `toml:"command"`       // command that measures: see Command; {} stands for the version
	Native       bool     `toml:"native"`        // whittle's own stack
	Commits      *Commits `toml:"commits"`       // between its versions; nil => they are not bisected
}

// Engine is one version of what is tested. Of Torch, Command and Native one is set.
type Engine struct {
	Version string
	Torch   []string
	Command []string
	Native  bool
	Commits *Commits // between it and other versions; nil => not known
}

// key tells engines apart that are started in different ways.
func (e Engine) key() string {
	return strings.Join(slices.Concat([]string{e.Version}, e.Torch, e.Command), "\x00")
}

// Corpus is where cases come from.
type Corpus struct {
	Name    string   `toml:"name"`    // begins the names of its cases; "" => the base name of its folder
	Folders []string `toml:"folders"` // of repros and programs, in any depth; relative to the configuration
	Match   string   `toml:"match"`   // regular expression that the path below the folder has to match
	Store   bool     `toml:"store"`   // the open failures of the store
}

// Mode is a way to compile. Empty fields leave what the case itself says.
type Mode struct {
	Backend string `toml:"backend"`
	Dynamic *bool  `toml:"dynamic"`
	Mode    string `toml:"mode"`  // default, reduce-overhead, max-autotune, max-autotune-no-cudagraphs
	DType   string `toml:"dtype"` // programs' default dtype: float32, float64, bfloat16, float16
}

// Limits bound a night.
type Limits struct {
	Time         Duration `toml:"time"`          // of one measurement; 0 => 10m
	Memory       string   `toml:"memory"`        // of one measurement: 8G; "" => none but the engine's own
	Jobs         int      `toml:"jobs"`          // measurements at a time, where the command line does not say; 0 => 1
	Minimise     Duration `toml:"minimise"`      // of minimising one failure; 0 => 30m
	Repeats      int      `toml:"repeats"`       // of each timing; 0 => 9
	BuildTimeout Duration `toml:"build_timeout"` // of building one commit; 0 => none
	FlakyTests   int      `toml:"flaky_tests"`   // measurements for bisecting one flaky failure along one axis; 0 => 100
}

// Thresholds say when a figure is reported.
type Thresholds struct {
	Alarms     float64            `toml:"alarms"`     // false alarms that are expected in a night; 0 => 0.005
	Change     float64            `toml:"change"`     // least change of a figure, as a share; 0 => 0.03
	Figures    map[string]float64 `toml:"figures"`    // the same for single figures, by name
	Confidence float64            `toml:"confidence"` // how likely the place of a flaky failure has to be; 0 => 0.998
}

// Output is where a report goes.
type Output struct {
	Outbox string `toml:"outbox"` // folder, relative to the configuration
	Hook   string `toml:"hook"`   // command, by the shell, in the configuration's folder, that gets the report's JSON on standard input; "" => none
}

// Duration is a time span written as 90s or 10m.
type Duration time.Duration

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Duration) UnmarshalText(b []byte) error {
	x, err := time.ParseDuration(string(b))
	if err == nil && x <= 0 {
		err = errors.New("a time above 0")
	}
	*d = Duration(x)
	return err
}

// ConfigError is what is wrong with a configuration, and where.
type ConfigError struct {
	Path string
	Line int // from 1; 0: the file as a whole
	Msg  string
}

func (e *ConfigError) Error() string {
	if e.Line == 0 {
		return e.Path + ": " + e.Msg
	}
	return fmt.Sprintf("%s:%d: %s", e.Path, e.Line, e.Msg)
}

// ReadConfig reads and checks a configuration. What is wrong with it is a *ConfigError.
func ReadConfig(path string) (*Config, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, &ConfigError{Path: path, Msg: reason(err)}
	}
	return ParseConfig(path, b)
}

// reason is an error about a file without the operation and the path.
func reason(err error) string {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// ParseConfig is ReadConfig of a text. path is for messages, and what relative paths begin from.
func ParseConfig(path string, text []byte) (*Config, error) {
	c := &Config{Path: path}
	d := toml.NewDecoder(strings.NewReader(string(text))).DisallowUnknownFields()
	err := d.Decode(c)
	var unknown *toml.StrictMissingError
	var wrong *toml.DecodeError
	switch {
	case errors.As(err, &unknown):
		first := unknown.Errors[0]
		line, _ := first.Position()
		return nil, &ConfigError{path, line, "unknown key " + strings.Join(first.Key(), ".") + known(first.Key())}
	case errors.As(err, &wrong):
		line, _ := wrong.Position()
		return nil, &ConfigError{path, line, strings.TrimPrefix(wrong.Error(), "toml: ")}
	case err != nil:
		return nil, &ConfigError{Path: path, Msg: strings.TrimPrefix(err.Error(), "toml: ")}
	}
	lines := places(text)
	fail := func(key, format string, args ...any) error {
		line := lines[key]
		for k := key; line == 0 && k != ""; line = lines[k] {
			k = k[:max(strings.LastIndexByte(k, '.'), 0)]
		}
		return &ConfigError{path, line, fmt.Sprintf(format, args...)}
	}
	if err := c.check(fail); err != nil {
		return nil, err
	}
	return c, nil
}

// known lists the keys that a table has.
func known(key []string) string {
	t := reflect.TypeFor[Config]()
	for _, k := range key[:len(key)-1] {
		for i := range t.NumField() {
			if f := t.Field(i); f.Tag.Get("toml") == k {
				t = f.Type
				for t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer {
					t = t.Elem()
				}
				break
			}
		}
		if t.Kind() != reflect.Struct {
			return ""
		}
	}
	var names []string
	for i := range t.NumField() {
		if name := t.Field(i).Tag.Get("toml"); name != "-" {
			names = append(names, name)
		}
	}
	return ": there are " + strings.Join(names, ", ")
}

// places are the lines of keys and tables: name, engine.0.torch, engine.0.commits.repo, limits.
func places(text []byte) map[string]int {
	out := map[string]int{}
	counts := map[string]int{}
	prefix := ""
	var p unstable.Parser
	p.Reset(text)
	for p.NextExpression() {
		e := p.Expression()
		var key []string
		line := 0
		for it := e.Key(); it.Next(); {
			n := it.Node()
			key = append(key, string(n.Data))
			if line == 0 {
				line = p.Shape(n.Raw).Start.Line
			}
		}
		name := strings.Join(key, ".")
		switch e.Kind {
		case unstable.ArrayTable:
			prefix = name + "." + strconv.Itoa(counts[name]) + "."
			counts[name]++
			out[strings.TrimSuffix(prefix, ".")] = line
		case unstable.Table:
			for table, n := range counts { // one of the last element of an array
				if rest, ok := strings.CutPrefix(name, table+"."); ok && n > 0 {
					name = table + "." + strconv.Itoa(n-1) + "." + rest
				}
			}
			prefix = name + "."
			out[name] = line
		case unstable.KeyValue:
			out[prefix+name] = line
		}
	}
	return out
}

var (
	botName   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][\w.-]*$`) })
	modes     = []string{"default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs"}
	dtypes    = []string{"float32", "float64", "bfloat16", "float16"}
	modeWords = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\w+$`) })
)

func (c *Config) check(fail func(key, format string, args ...any) error) error {
	switch {
	case c.Name == "":
		return fail("name", "name is missing")
	case !botName().MatchString(c.Name):
		return fail("name", "name %q: letters, digits, and . - _ between them", c.Name)
	case len(c.Engines) == 0:
		return fail("", "there is no [[engine]]")
	case len(c.Corpora) == 0:
		return fail("", "there is no [[corpus]]")
	case c.Report.Outbox == "":
		return fail("report.outbox", "[report] needs an outbox: the folder of reports")
	case c.Limits.Jobs < 0:
		return fail("limits.jobs", "jobs = %d: at least 1", c.Limits.Jobs)
	case c.Limits.Repeats < 0:
		return fail("limits.repeats", "repeats = %d: at least 1", c.Limits.Repeats)
	case c.Limits.FlakyTests < 0:
		return fail("limits.flaky_tests", "flaky_tests = %d: at least 1", c.Limits.FlakyTests)
	case c.Thresholds.Confidence != 0 && !(c.Thresholds.Confidence > 0.5 && c.Thresholds.Confidence < 1):
		return fail("thresholds.confidence", "confidence = %v: above 0.5, below 1", c.Thresholds.Confidence)
	case c.Thresholds.Alarms < 0 || c.Thresholds.Alarms >= 1:
		return fail("thresholds.alarms", "alarms = %v: above 0, below 1", c.Thresholds.Alarms)
	case c.Thresholds.Change < 0 || c.Thresholds.Change >= 1:
		return fail("thresholds.change", "change = %v: above 0, below 1", c.Thresholds.Change)
	}
	for name, v := range c.Thresholds.Figures {
		if !(v > 0 && v < 1) {
			return fail("thresholds.figures."+name, "%s = %v: above 0, below 1", name, v)
		}
	}
	if c.Limits.Memory != "" && !sizes().MatchString(c.Limits.Memory) {
		return fail("limits.memory", "memory = %q is no size: 500M and 8G are", c.Limits.Memory)
	}
	for i, e := range c.Engines {
		at := fmt.Sprintf("engine.%d", i)
		ways, how := 0, 0
		for _, set := range []bool{e.Version != "", len(e.Versions) > 0, e.VersionsFrom != ""} {
			if set {
				ways++
			}
		}
		for _, set := range []bool{e.Torch != "", e.Command != "", e.Native} {
			if set {
				how++
			}
		}
		many := len(e.Versions) > 1 || e.VersionsFrom != ""
		switch {
		case ways != 1:
			return fail(at, "an [[engine]] has one of version, versions and versions_from, got %d", ways)
		case how != 1:
			return fail(at, "an [[engine]] has one of torch, command and native, got %d", how)
		case many && e.Native:
			return fail(at+".native", "whittle's own stack has one version: this one")
		case many && !strings.Contains(e.Torch+e.Command, axis.Place):
			return fail(at, "the command does not say which version it starts: put %s into it", axis.Place)
		case slices.Contains(e.Versions, ""):
			return fail(at+".versions", "a version without a name")
		}
		if e.Commits != nil {
			if err := e.Commits.check(at+".commits", e.Native, fail); err != nil {
				return err
			}
		}
	}
	seen := map[string]bool{}
	for i, k := range c.Corpora {
		at := fmt.Sprintf("corpus.%d", i)
		if len(k.Folders) == 0 && !k.Store {
			return fail(at, "a [[corpus]] has folders, or store = true")
		}
		if k.Name != "" && !botName().MatchString(k.Name) {
			return fail(at+".name", "name %q: letters, digits, and . - _ between them", k.Name)
		}
		if _, err := regexp.Compile(k.Match); err != nil {
			return fail(at+".match", "%v", err)
		}
		for _, f := range k.Folders {
			name := k.base(f)
			if seen[name] {
				return fail(at, "two corpora called %s: name = says another one", name)
			}
			seen[name] = true
		}
	}
	names := map[string]bool{}
	for i, m := range c.Modes {
		at := fmt.Sprintf("mode.%d", i)
		switch {
		case m.Backend != "" && !modeWords().MatchString(m.Backend):
			return fail(at+".backend", "backend = %q is no name", m.Backend)
		case m.Mode != "" && !slices.Contains(modes, m.Mode):
			return fail(at+".mode", "mode = %q: one of %s", m.Mode, strings.Join(modes, ", "))
		case m.DType != "" && !slices.Contains(dtypes, m.DType):
			return fail(at+".dtype", "dtype = %q: one of %s", m.DType, strings.Join(dtypes, ", "))
		case names[m.String()]:
			return fail(at, "the same [[mode]] twice: %s", m)
		}
		names[m.String()] = true
	}
	return nil
}

var sizes = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[1-9]\d{0,9}[KMG]?$`) })

// base is what the names of a folder's cases begin with.
func (k Corpus) base(folder string) string {
	if k.Name == "" {
		return filepath.Base(folder)
	}
	if len(k.Folders) > 1 {
		return k.Name + "/" + filepath.Base(folder)
	}
	return k.Name
}

// String is the mode as people say it; "" for a case as it is.
func (m Mode) String() string {
	var parts []string
	if m.Backend != "" {
		parts = append(parts, m.Backend)
	}
	if m.Dynamic != nil {
		parts = append(parts, fmt.Sprintf("dynamic=%v", *m.Dynamic))
	}
	if m.Mode != "" {
		parts = append(parts, m.Mode)
	}
	return strings.Join(append(parts, nonEmpty(m.DType)...), " ")
}

func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// Measurement is how long one measurement may take.
func (l Limits) Measurement() time.Duration {
	return defaultTo(time.Duration(l.Time), 10*time.Minute)
}

// minimise, repeats and flakyTests are limits with their defaults.
func (l Limits) minimise() time.Duration { return defaultTo(time.Duration(l.Minimise), 30*time.Minute) }
func (l Limits) repeats() int            { return defaultTo(l.Repeats, 9) }
func (l Limits) flakyTests() int         { return defaultTo(l.FlakyTests, 100) }

func defaultTo[T comparable](v, def T) T {
	var zero T
	if v == zero {
		return def
	}
	return v
}

// Dir is the folder that paths of the configuration begin from.
func (c *Config) Dir() string { return filepath.Dir(c.Path) }

// At is a path of the configuration.
func (c *Config) At(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(c.Dir(), path)
}

// Versions are the engines, oldest first. Errors are about commands that print versions, and names that come twice.
func (c *Config) Versions(ctx context.Context) ([]Engine, error) {
	var out []Engine
	seen := map[string]bool{}
	for _, e := range c.Engines {
		names := e.Versions
		switch {
		case e.Version != "":
			names = []string{e.Version}
		case e.VersionsFrom != "":
			var err error
			if names, err = axis.VersionsFrom(ctx, e.VersionsFrom); err != nil {
				return nil, &ConfigError{Path: c.Path, Msg: err.Error()}
			}
		}
		for _, name := range names {
			if seen[name] {
				return nil, &ConfigError{Path: c.Path, Msg: "version " + name + " is there twice"}
			}
			seen[name] = true
			out = append(out, Engine{Version: name, Torch: axis.Fill(strings.Fields(e.Torch), name), Command: axis.Fill(strings.Fields(e.Command), name), Native: e.Native, Commits: e.Commits})
		}
	}
	if len(out) == 0 {
		return nil, &ConfigError{Path: c.Path, Msg: "there is no version"}
	}
	return out, nil
}
