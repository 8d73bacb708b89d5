package serve

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/maruel/natural"

	"whittle/replay"
)

const (
	matrixColumns = 24
	matrixRows    = 40
	figureNights  = 60
)

// sign is how a cell of the matrix is shown: a letter and a word beside the colour.
type sign struct{ Class, Letter, Word string }

// signs are the legend, in its order.
var signs = []sign{
	{"pass", "✓", "passes"}, {"fail", "F", "fails"}, {"flaky", "~", "flaky: its attempts differ"}, {"timeout", "T", "hangs"}, {"oom", "M", "out of memory"}, {"killed", "K", "killed by a signal"},
	{"invalid", "I", "invalid: eager itself fails"}, {"infrastructure", "?", "the engine failed"}, {"none", "·", "not run"}, {"else", "!", "another status"},
}

func signOf(c replay.Cell) sign {
	class := "none"
	for i, st := range c.Statuses {
		switch {
		case i > 0 && st != c.Statuses[0]:
			class = "flaky"
		case i == 0:
			class = string(st)
		}
	}
	i := slices.IndexFunc(signs, func(s sign) bool { return s.Class == class })
	if i < 0 || class == "none" && len(c.Statuses) > 0 {
		i = len(signs) - 1
	}
	return signs[i]
}

type matrixCell struct {
	sign
	Version string
	Night   int64
	Failure int64
}

type matrixRow struct {
	replay.CaseRow
	Cells []matrixCell
}

// matrix is the page of cases by versions: versions by their natural order, as 2.10 comes after 2.9.
func (s *Server) matrix(r *http.Request) (view, error) {
	ctx := r.Context()
	var b struct {
		Bot, Search, Status string
		Bots                []string
		Versions            []string
		Rows                []matrixRow
		Legend              []sign
		Older, Newer, Next  string // paths
		Night               int64  // whose status is filtered by
	}
	b.Bot, b.Search, b.Status, b.Legend = r.FormValue("bot"), r.FormValue("q"), r.FormValue("status"), signs
	var err error
	if b.Bots, err = s.store.Bots(ctx); err != nil {
		return view{}, err
	}
	if b.Bot == "" && len(b.Bots) > 0 {
		b.Bot = b.Bots[0]
	}
	last, err := s.store.NightPage(ctx, b.Bot, 0, 1)
	if err != nil {
		return view{}, err
	}
	if b.Bot == "" {
		last = nil
	}
	if len(last) > 0 {
		b.Night = last[0].ID
	}
	cases, err := s.store.CasePage(ctx, replay.CaseFilter{Bot: b.Bot, Search: b.Search, Status: b.Status, Night: b.Night, AfterName: r.FormValue("name"), AfterMode: r.FormValue("mode"), Limit: matrixRows + 1})
	if err != nil {
		return view{}, err
	}
	cases, next := more(cases, matrixRows)
	var ids []int64
	for _, c := range cases {
		ids = append(ids, c.ID)
	}
	versions, err := s.store.Versions(ctx, b.Bot, ids)
	if err != nil {
		return view{}, err
	}
	slices.SortFunc(versions, natural.Compare)
	skip, err := numberOr(r, "skip", 0) // versions that are newer than those shown
	if err != nil {
		return view{}, err
	}
	to := max(len(versions)-int(min(skip, int64(len(versions)))), min(len(versions), matrixColumns))
	from := max(to-matrixColumns, 0)
	link := func(skip int, name, mode string) string {
		q, qerr := query("/matrix", "bot", b.Bot, "q", b.Search, "status", b.Status, "skip", skip, "name", name, "mode", mode)
		if qerr != nil {
			err = qerr
		}
		return q
	}
	shown := len(versions) - to
	if from > 0 {
		b.Older = link(shown+matrixColumns, r.FormValue("name"), r.FormValue("mode"))
	}
	if shown > 0 {
		b.Newer = link(max(shown-matrixColumns, 0), r.FormValue("name"), r.FormValue("mode"))
	}
	if next {
		b.Next = link(shown, cases[matrixRows-1].Name, cases[matrixRows-1].Mode)
	}
	if err != nil {
		return view{}, err
	}
	b.Versions = versions[from:to]
	cells, err := s.store.Cells(ctx, ids, b.Versions)
	if err != nil {
		return view{}, err
	}
	type key struct {
		id      int64
		version string
	}
	found := map[key]replay.Cell{}
	for _, c := range cells {
		found[key{c.Case, c.Version}] = c
	}
	for _, c := range cases {
		row := matrixRow{CaseRow: c}
		for _, v := range b.Versions {
			x := found[key{c.ID, v}]
			row.Cells = append(row.Cells, matrixCell{signOf(x), v, x.Night, x.Failure})
		}
		b.Rows = append(b.Rows, row)
	}
	return view{name: "matrix", Title: "Cases by versions", Nav: "/matrix", Body: b}, nil
}

// unit is what a figure is counted in, in a plot, and how many of the store's units one of these is.
type unit struct {
	name string
	of   float64
}

// units are those of the figures that are known; another one's name says all.
var units = map[string]unit{"compile_s": {"seconds", 1}, "run_s": {"seconds", 1}, "speedup": {"times eager", 1}, "rmse": {"RMSE", 1}, "cosine": {"cosine", 1}, "peak_memory": {"MB", 1e6}, "graph_breaks": {"breaks", 1}, "recompiles": {"recompiles", 1}}

// oneCase is the page of a case: what was measured over the nights, or over versions, and its runs.
func (s *Server) oneCase(r *http.Request) (view, error) {
	ctx := r.Context()
	id, err := number(r.PathValue("id"))
	if err != nil {
		return view{}, err
	}
	before, err := numberOr(r, "before", 0)
	if err != nil {
		return view{}, err
	}
	type plotted struct {
		Name string
		Plot *plot // nil: it cannot be drawn
	}
	type tableRow struct {
		Night   int64
		Version string
		Values  []string
		Changes []string
	}
	type run struct {
		replay.RunRow
		Text string
	}
	var b struct {
		replay.CaseRow
		By    string
		Plots []plotted
		Names []string
		Table []tableRow
		Older string
		News  []replay.NewsRow
		Runs  []run
	}
	if b.CaseRow, err = s.store.CaseByID(ctx, id); err != nil {
		return view{}, err
	}
	b.By = r.FormValue("by")
	if b.By != "" && b.By != "versions" {
		return view{}, wrong{http.StatusBadRequest, fmt.Sprintf("by=%s: want versions, or nothing for nights", short(60, b.By))}
	}
	all, err := s.store.CaseFigures(ctx, id, before, figureNights+1)
	if err != nil {
		return view{}, err
	}
	if b.News, err = s.store.NewsPage(ctx, replay.NewsFilter{Case: id, Limit: 200}); err != nil {
		return view{}, err
	}
	// The columns: nights in order, or the latest night of each version, versions in order.
	columns := map[int64]replay.Figure{}
	for _, f := range all {
		columns[f.Night] = f
	}
	var order []replay.Figure
	for _, f := range columns {
		order = append(order, f)
	}
	slices.SortFunc(order, func(x, y replay.Figure) int { return int(x.Night - y.Night) })
	if len(order) > figureNights {
		order = order[1:]
		if b.Older, err = query(fmt.Sprintf("/cases/%d", id), "by", b.By, "before", order[0].Night); err != nil {
			return view{}, err
		}
	}
	if b.By == "versions" {
		slices.SortStableFunc(order, func(x, y replay.Figure) int { return natural.Compare(x.Version, y.Version) })
		var latest []replay.Figure
		for _, f := range order {
			if k := len(latest) - 1; k >= 0 && latest[k].Version == f.Version {
				latest[k] = f
				continue
			}
			latest = append(latest, f)
		}
		order = latest
	}
	place := map[int64]int{}
	for i, f := range order {
		place[f.Night] = i
		b.Table = append(b.Table, tableRow{Night: f.Night, Version: f.Version})
	}
	if b.By == "versions" { // a change in any night of a version is one of the version
		byVersion := map[string]int{}
		for i, f := range order {
			byVersion[f.Version] = i
		}
		for n, f := range columns {
			if i, ok := byVersion[f.Version]; ok && len(order) > 0 {
				if _, known := place[n]; !known {
					place[n] = i
				}
			}
		}
	}
	drawnAs := map[int64]bool{}
	for _, f := range order {
		drawnAs[f.Night] = true
	}
	for start := 0; start < len(all); {
		end := start
		for end < len(all) && all[end].Name == all[start].Name {
			end++
		}
		name := all[start].Name
		b.Names = append(b.Names, name)
		in, ok := units[name]
		if !ok {
			in.of = 1
		}
		p := series{Title: fmt.Sprintf("%s over %s", name, axisName(b.By)), Unit: in.name}
		where := map[int]int{} // column to place in Y
		byColumn := make([]*replay.Figure, len(order))
		for i := start; i < end; i++ {
			if drawnAs[all[i].Night] {
				byColumn[place[all[i].Night]] = &all[i]
			}
		}
		for c, f := range byColumn {
			if f == nil {
				b.Table[c].Values = append(b.Table[c].Values, "")
				continue
			}
			where[c] = len(p.Y)
			p.Y, p.Spread, p.Labels = append(p.Y, f.Value/in.of), append(p.Spread, f.Spread/in.of), append(p.Labels, f.Version)
			b.Table[c].Values = append(b.Table[c].Values, figure(f.Value)+" ± "+figure(f.Spread))
		}
		for _, n := range b.News {
			if c, ok := place[n.Night]; ok && n.Subject == name {
				if i, ok := where[c]; ok {
					p.Marks = append(p.Marks, i)
					p.Title += fmt.Sprintf("; %s at %s", n.Kind, n.Version)
				}
				b.Table[c].Changes = append(b.Table[c].Changes, name+": "+n.Kind)
			}
		}
		b.Plots = append(b.Plots, plotted{strings.TrimSuffix(name+", "+in.name, ", "), p.draw()})
		start = end
	}
	runs, err := s.store.CaseRuns(ctx, id, before, pageRows)
	for _, x := range runs {
		b.Runs = append(b.Runs, run{x, outcomeText(x.Outcome)})
	}
	return view{name: "case", Title: fmt.Sprintf("Case %d", id), Nav: "/matrix", Body: b}, err
}

func axisName(by string) string {
	if by == "" {
		return "nights"
	}
	return by
}
