package nightly

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"whittle/replay"
	"whittle/tools/whittle/axis"
)

// Options say which night to play.
type Options struct {
	Config *Config
	Store  *replay.Store
	Lab    Lab
	Key    string // of the night: letters, digits, and . - _ between them
	Jobs   int    // measurements at a time; 0 => 1
	Cache  string // folder for builds of commits where the configuration names none; "" => that for temporary files
	// Group puts a failure into a group of those that are one bug. Asked again about a failure it says the same. nil => there are no groups.
	Group func(ctx context.Context, failure int64) (group int64, created bool, err error)
	// Event is told what happens, from one goroutine at a time. nil => nobody listens.
	Event func(Event)
}

// Event is something that happened in a night.
type Event struct {
	Kind    string        `json:"event"` // night, measured, minimising, bisecting, line
	Night   string        `json:"night"`
	Case    string        `json:"case,omitempty"`
	Mode    string        `json:"mode,omitempty"`
	Version string        `json:"version,omitempty"`
	Attempt int           `json:"attempt,omitempty"`
	Status  replay.Status `json:"status,omitempty"`
	Text    string        `json:"text,omitempty"`
}

// KeyError says that a night's key is no name for a folder.
type KeyError struct{ Key string }

func (e *KeyError) Error() string {
	return fmt.Sprintf("night %q: letters, digits, and . - _ between them", e.Key)
}

// attempts is how many runs have to agree on something new.
const attempts = 3

// spare is how many more runs are made where the machine or the engine failed.
const spare = 2

// kept is how many nights of a figure are looked at.
const kept = 200

// item is a case in a mode.
type item struct {
	id   int64
	Case Case
	Mode Mode
}

type runKey struct {
	id      int64
	version string
	attempt int
}

// night is one that is being played.
type night struct {
	Options
	row     replay.Night
	before  []replay.Night // earlier ones, in order
	engines []Engine
	newest  Engine
	items   []item
	open    map[int64][]*finding
	said    []replay.News
	figures map[int64]map[string][]replay.NightFigure
	report  Report
	built   map[string]*axis.Builds // by folder
	parts   map[int64]*Divergence   // of cases that pass

	mu   sync.Mutex
	runs map[runKey]replay.Run
	up   map[string]error // engines that were started, by their keys, and why not
}

// Run plays a night, or goes on with it, and gives its report. One that is finished is only read.
func Run(ctx context.Context, o Options) (*Report, []byte, error) {
	if !botName().MatchString(o.Key) {
		return nil, nil, &KeyError{o.Key}
	}
	done, found, err := o.Store.FindNight(ctx, o.Config.Name, o.Key)
	if err != nil {
		return nil, nil, err
	}
	if found && done.Report != nil {
		return readReport(done.Report)
	}
	n := &night{Options: o, runs: map[runKey]replay.Run{}, up: map[string]error{}, built: map[string]*axis.Builds{}, parts: map[int64]*Divergence{}}
	n.Jobs = max(n.Jobs, 1)
	defer func() {
		for _, b := range n.built {
			b.Close()
		}
	}()
	if err := n.begin(ctx); err != nil {
		return nil, nil, err
	}
	if n.report.Dead == "" {
		if err := n.play(ctx); err != nil {
			return nil, nil, err
		}
	}
	return n.finish(ctx)
}

// Plan is what a night would measure, one line for each case and mode.
func Plan(ctx context.Context, c *Config, st *replay.Store) (engines []Engine, items []string, err error) {
	if engines, err = c.Versions(ctx); err != nil {
		return nil, nil, err
	}
	cases, err := c.Cases(ctx, st)
	if err != nil {
		return nil, nil, err
	}
	for _, x := range spread(c, cases) {
		line := x.Case.Name
		if m := x.Mode.String(); m != "" {
			line += " [" + m + "]"
		}
		if x.Case.Problem != "" {
			line += ": " + plain(x.Case.Problem)
		}
		items = append(items, line)
	}
	return engines, items, nil
}

// spread gives each case in each mode that fits it.
func spread(c *Config, cases []Case) []item {
	modes := c.Modes
	if len(modes) == 0 {
		modes = []Mode{{}}
	}
	var out []item
	for _, x := range cases {
		for _, m := range modes {
			if m.fits(x) {
				out = append(out, item{Case: x, Mode: m})
			}
		}
	}
	return out
}

// begin starts the newest engine and writes the night's row.
func (n *night) begin(ctx context.Context) error {
	var err error
	if n.engines, err = n.Config.Versions(ctx); err != nil {
		return err
	}
	n.newest = n.engines[len(n.engines)-1]
	fingerprint, dead := n.Lab.Start(ctx, n.newest)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	n.up[n.newest.key()] = dead
	n.report = Report{Bot: n.Config.Name, Night: n.Key, Version: n.newest.Version, Fingerprint: fingerprint}
	if dead != nil {
		n.report.Dead = plain(dead.Error())
	}
	n.row, err = n.Store.BeginNight(ctx, replay.Night{Bot: n.Config.Name, Key: n.Key, Version: n.newest.Version, Fingerprint: fingerprint})
	if err != nil {
		return err
	}
	n.tell(Event{Kind: "night", Version: n.newest.Version, Text: n.report.Dead})
	all, err := n.Store.Nights(ctx, n.Config.Name)
	if err != nil {
		return err
	}
	for _, x := range all {
		if x.ID < n.row.ID {
			n.before = append(n.before, x)
		}
	}
	if n.said, err = n.Store.NewsBefore(ctx, n.Config.Name, n.row.ID); err != nil {
		return err
	}
	if n.open, err = readFindings(n.said); err != nil {
		return err
	}
	if n.figures, err = n.Store.NightFigures(ctx, n.Config.Name, n.row.ID, kept); err != nil {
		return err
	}
	runs, err := n.Store.Runs(ctx, n.row.ID)
	for _, r := range runs {
		n.runs[runKey{r.Case, r.Version, r.Attempt}] = r
	}
	return err
}

func (n *night) tell(e Event) {
	if n.Event == nil {
		return
	}
	e.Night = n.Key
	n.mu.Lock()
	defer n.mu.Unlock()
	n.Event(e)
}

// play measures, and says what is new.
func (n *night) play(ctx context.Context) error {
	cases, err := n.Config.Cases(ctx, n.Store)
	if err != nil {
		return err
	}
	n.items = spread(n.Config, cases)
	rows := make([]replay.BotCase, len(n.items))
	for i, x := range n.items {
		rows[i] = replay.BotCase{Name: x.Case.Name, Mode: x.Mode.String()}
	}
	if rows, err = n.Store.PutCases(ctx, n.Config.Name, rows); err != nil {
		return err
	}
	var can []item
	for i, r := range rows {
		n.items[i].id = r.ID
		if n.items[i].Case.Problem == "" {
			can = append(can, n.items[i])
		}
	}
	if err := n.ensure(ctx, can, n.newest, 1, true); err != nil {
		return err
	}
	series := 0
	for _, x := range can {
		if r := n.valid(x, n.newest); len(r) > 0 {
			series += len(r[0].Figures)
		}
	}
	n.report.series = 64 // a round number, which does not change with every case that comes or goes
	for n.report.series < series {
		n.report.series *= 2
	}
	var doubted []item
	for _, x := range can {
		if n.doubted(x) {
			doubted = append(doubted, x)
		}
	}
	if err := n.ensure(ctx, doubted, n.newest, attempts, true); err != nil {
		return err
	}
	for _, x := range n.items {
		if err := n.judge(ctx, x); err != nil {
			return err
		}
	}
	return n.absent(ctx)
}

func (n *night) trouble(x item, text string) {
	n.report.Trouble = append(n.report.Trouble, Trouble{x.Case.Name, x.Mode.String(), plain(text)})
}

// line adds a line to the report.
func (n *night) line(x item, l Line) {
	l.Case, l.Mode, l.id = x.Case.Name, x.Mode.String(), x.id
	if l.Kind == "known" {
		n.report.Open = append(n.report.Open, l)
		return
	}
	n.report.News = append(n.report.News, l)
	n.tell(Event{Kind: "line", Case: l.Case, Mode: l.Mode, Version: n.newest.Version, Text: l.Kind + ": " + l.Text})
}

// finish keeps the report.
func (n *night) finish(ctx context.Context) (*Report, []byte, error) {
	n.report.order()
	b, err := json.MarshalIndent(&n.report, "", "  ")
	if err != nil {
		return nil, nil, err
	}
	b = append(b, '\n')
	var news []replay.News
	for _, l := range slices.Concat(n.report.News, n.report.Open) {
		detail, err := json.Marshal(l)
		if err != nil {
			return nil, nil, err
		}
		news = append(news, replay.News{Case: l.id, Kind: l.Kind, Subject: l.Subject, Group: l.Group, Failure: l.Failure, Text: l.Text, Detail: string(detail)})
	}
	if err := n.Store.FinishNight(ctx, n.row.ID, b, n.report.figures, news); err != nil {
		return nil, nil, err
	}
	return &n.report, b, nil
}
