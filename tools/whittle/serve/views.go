package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	udiff "github.com/aymanbagabas/go-udiff"

	"whittle/replay"
)

// overview is the first page: what needs a look.
func (s *Server) overview(r *http.Request) (view, error) {
	ctx := r.Context()
	var b struct {
		States   []replay.NamedCount
		Running  []replay.Summary
		Groups   []replay.GroupRow
		Failures []replay.FailureRow
		Nights   []nightLine
	}
	var err error
	if b.States, err = s.store.GroupStates(ctx); err != nil {
		return view{}, err
	}
	if b.Running, err = s.store.RunningMinifications(ctx); err != nil {
		return view{}, err
	}
	if b.Groups, err = s.store.GroupPage(ctx, replay.GroupQuery{State: "new", Limit: 10}); err != nil {
		return view{}, err
	}
	if b.Failures, err = s.store.FailurePage(ctx, "", "", 0, 10); err != nil {
		return view{}, err
	}
	b.Nights, _, err = s.nightLines(ctx, "", 0, 7)
	return view{name: "overview", Title: "Overview", Nav: "/", Body: b}, err
}

func (s *Server) groups(r *http.Request) (view, error) {
	after, err := numberOr(r, "after", 0)
	if err != nil {
		return view{}, err
	}
	value, err := numberOr(r, "value", 0)
	if err != nil {
		return view{}, err
	}
	f := replay.GroupQuery{State: r.FormValue("state"), Search: r.FormValue("q"), Sort: replay.GroupSort(r.FormValue("sort")), AfterValue: value, AfterID: after, Limit: pageRows + 1}
	switch f.Sort {
	case "":
		f.Sort = replay.BySeverity
	case replay.BySeverity, replay.ByAge, replay.ByCases:
	default:
		return view{}, wrong{http.StatusBadRequest, fmt.Sprintf("sort=%s: want severity, age or cases", short(60, string(f.Sort)))}
	}
	var b struct {
		replay.GroupQuery
		States []replay.NamedCount
		Rows   []replay.GroupRow
		Next   string
	}
	b.GroupQuery = f
	if b.States, err = s.store.GroupStates(r.Context()); err != nil {
		return view{}, err
	}
	rows, err := s.store.GroupPage(r.Context(), f)
	if err != nil {
		return view{}, err
	}
	var next bool
	if b.Rows, next = more(rows, pageRows); next {
		last := b.Rows[pageRows-1]
		b.Next, err = query("/groups", "state", f.State, "q", f.Search, "sort", f.Sort, "value", f.Sort.Key(last), "after", last.ID)
	}
	return view{name: "groups", Title: "Groups", Nav: "/groups", Body: b}, err
}

// member is a failure of a group with what was compared.
type member struct {
	replay.MemberRow
	Compared string // in words
}

func (s *Server) group(r *http.Request) (view, error) {
	ctx := r.Context()
	id, err := number(r.PathValue("id"))
	if err != nil {
		return view{}, err
	}
	after, err := numberOr(r, "after", 0)
	if err != nil {
		return view{}, err
	}
	before, err := numberOr(r, "before", 0)
	if err != nil {
		return view{}, err
	}
	var b struct {
		replay.GroupRow
		Minimal    *minimal
		Bisections []*axis
		Events     []replay.EventRow
		MoreEvents int64
		Members    []member
		MoreAfter  int64
		News       []replay.NewsRow
	}
	if b.GroupRow, err = s.store.GroupByID(ctx, id); err != nil {
		return view{}, err
	}
	work, err := s.store.GroupWork(ctx, id)
	if err != nil {
		return view{}, err
	}
	if b.Minimal, err = s.minimal(ctx, work.Minification, work.Latest); err != nil {
		return view{}, err
	}
	for _, id := range work.Bisections[:min(len(work.Bisections), 3)] {
		a, err := s.axis(ctx, id)
		if err != nil {
			return view{}, err
		}
		b.Bisections = append(b.Bisections, a)
	}
	events, err := s.store.GroupEvents(ctx, id, before, pageRows+1)
	if err != nil {
		return view{}, err
	}
	var next bool
	if b.Events, next = more(events, pageRows); next {
		b.MoreEvents = b.Events[pageRows-1].ID
	}
	rows, err := s.store.GroupMembers(ctx, id, after, pageRows+1)
	if err != nil {
		return view{}, err
	}
	if rows, next = more(rows, pageRows); next {
		b.MoreAfter = rows[pageRows-1].Failure
	}
	for _, m := range rows {
		b.Members = append(b.Members, member{m, treeOrText(m.Features).words()})
	}
	b.News, err = s.store.NewsPage(ctx, replay.NewsFilter{Group: id, Limit: pageRows})
	return view{name: "group", Title: fmt.Sprintf("Group %d", id), Nav: "/groups", Body: b}, err
}

// minimal is the smallest repro that there is of something.
type minimal struct {
	Minification, Failure int64 // where it is from: one of them is not 0
	Repro, Standalone     *block
	Result                *replay.Result // nil: nothing but the repro
	Graph                 *drawing
	NoGraph               string // why there is none
	Diff                  []diffFile
	Err                   string // why a part is missing
}

// diffFile is generated code of the good and the bad side that differs.
type diffFile struct {
	Name  string
	Equal bool
	Lines []diffLine
	Left  int // lines that are not shown
}

type diffLine struct{ Class, Mark, Text string }

// diffLines bounds what is shown of one difference.
const diffLines = 2000

// minimal reads the result of a search, or the repro of a failure where there was no search. What cannot be read is told on the page.
func (s *Server) minimal(ctx context.Context, minification, failure int64) (*minimal, error) {
	m := &minimal{Minification: minification}
	var text, raw string
	if minification > 0 {
		res, err := s.result(ctx, minification)
		var nf *replay.NotFoundError
		var ce *replay.CorruptError
		switch {
		case err == nil:
			raw = fmt.Sprintf("/text/minification/%d/repro", minification)
			m.Result, text = &res, res.Repro
			m.Standalone = newBlock("standalone.py", res.Standalone, fmt.Sprintf("/text/minification/%d/standalone", minification))
			m.Diff = codeDiff(res.Files)
		case errors.As(err, &nf):
		case errors.As(err, &ce):
			m.Err = err.Error()
		default:
			return nil, err
		}
	}
	if text == "" && failure > 0 {
		f, err := s.store.FailureByID(ctx, failure)
		if err != nil {
			return nil, err
		}
		if f.Repro != "" {
			b, err := s.store.Blob(ctx, f.Repro)
			if err != nil {
				m.Err = err.Error()
			}
			m.Minification, m.Failure, text, raw = 0, failure, string(b), fmt.Sprintf("/text/failure/%d/repro", failure)
		}
	}
	if text == "" {
		if m.Err == "" {
			return nil, nil
		}
		return m, nil
	}
	m.Repro = newBlock("repro.py", text, raw)
	var err error
	if m.Graph, err = s.artist.drawText(ctx, "graph of the repro", "", text, 1); err != nil {
		m.NoGraph = err.Error()
	}
	return m, ctx.Err()
}

// result reads what a search found; of one from before there were results, the repro of its end.
func (s *Server) result(ctx context.Context, id int64) (replay.Result, error) {
	res, err := s.store.Result(ctx, id)
	var nf *replay.NotFoundError
	if !errors.As(err, &nf) {
		return res, err
	}
	m, merr := s.store.Minification(ctx, id)
	if merr != nil || !m.Finished {
		return res, errors.Join(merr, err)
	}
	return replay.Result{Signature: m.Signature, Repro: m.Result, Complete: true}, nil
}

func codeDiff(files map[string][]byte) []diffFile {
	var out []diffFile
	for name := range files {
		rest, ok := strings.CutPrefix(name, replay.BadCode)
		if !ok {
			continue
		}
		good, ok := files[replay.GoodCode+rest]
		if !ok {
			continue
		}
		out = append(out, diffOf(rest, string(good), string(files[name])))
	}
	slices.SortFunc(out, func(a, b diffFile) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func diffOf(name, good, bad string) diffFile {
	if len(good)+len(bad) > 2*blockText {
		return diffFile{Name: name, Lines: []diffLine{{"", "", fmt.Sprintf("%d and %d bytes: too long to be compared here", len(good), len(bad))}}}
	}
	text := udiff.Unified("good/"+path.Base(name), "bad/"+path.Base(name), good, bad)
	f := diffFile{Name: name, Equal: text == ""}
	for i, l := range lines([]byte(text)) {
		if i >= diffLines {
			f.Left++
			continue
		}
		d := diffLine{"", "", l}
		switch {
		case i < 2: // the names of both sides
			d.Class = "hunk"
		case strings.HasPrefix(l, "+"):
			d = diffLine{"add", "+", l[1:]}
		case strings.HasPrefix(l, "-"):
			d = diffLine{"del", "-", l[1:]}
		case strings.HasPrefix(l, "@@"):
			d.Class = "hunk"
		case strings.HasPrefix(l, " "):
			d = diffLine{"", " ", l[1:]}
		}
		f.Lines = append(f.Lines, d)
	}
	return f
}

func (s *Server) failures(r *http.Request) (view, error) {
	before, err := numberOr(r, "before", 0)
	if err != nil {
		return view{}, err
	}
	var b struct {
		Stage, Search string
		Rows          []replay.FailureRow
		Next          string
	}
	b.Stage, b.Search = r.FormValue("stage"), r.FormValue("q")
	rows, err := s.store.FailurePage(r.Context(), b.Stage, b.Search, before, pageRows+1)
	if err != nil {
		return view{}, err
	}
	var next bool
	if b.Rows, next = more(rows, pageRows); next {
		b.Next, err = query("/failures", "stage", b.Stage, "q", b.Search, "before", b.Rows[pageRows-1].ID)
	}
	return view{name: "failures", Title: "Failures", Nav: "/failures", Body: b}, err
}

func (s *Server) failure(r *http.Request) (view, error) {
	ctx := r.Context()
	id, err := number(r.PathValue("id"))
	if err != nil {
		return view{}, err
	}
	var b struct {
		replay.FailureText
		Error            *block
		Config, InputsOf *tree
		Minimal          *minimal
	}
	if b.FailureText, err = s.store.FailureByID(ctx, id); err != nil {
		return view{}, err
	}
	b.Error = newBlock("error", b.Raw, fmt.Sprintf("/text/failure/%d/raw", id))
	b.Config, b.InputsOf = treeOrText(b.Settings), treeOrText(b.Inputs)
	b.Minimal, err = s.minimal(ctx, 0, id)
	return view{name: "failure", Title: fmt.Sprintf("Failure %d", id), Nav: "/failures", Body: b}, err
}

// treeOrText is a text as JSON, or as it is.
func treeOrText(text string) *tree {
	if t, err := parseTree([]byte(text)); err == nil {
		return t
	}
	return &tree{Text: text}
}

func (s *Server) minifications(r *http.Request) (view, error) {
	before, err := numberOr(r, "before", 0)
	if err != nil {
		return view{}, err
	}
	rows, err := s.store.MinificationPage(r.Context(), before, pageRows+1)
	var b struct {
		Rows []replay.Summary
		Next string
	}
	var next bool
	if b.Rows, next = more(rows, pageRows); next && err == nil {
		b.Next, err = query("/minifications", "before", b.Rows[pageRows-1].ID)
	}
	return view{name: "minifications", Title: "Minifications", Nav: "/minifications", Body: b}, err
}

func (s *Server) minification(r *http.Request) (view, error) {
	ctx := r.Context()
	id, err := number(r.PathValue("id"))
	if err != nil {
		return view{}, err
	}
	after, err := numberOr(r, "after", 0)
	if err != nil {
		return view{}, err
	}
	var b struct {
		replay.Summary
		Minimal    *minimal
		Passes     []replay.PassStats
		Plot       *plot
		Steps      []replay.Step
		Taken      bool
		Next       string
		Tree       []stateRow
		TreeLeft   bool
		Findings   []replay.Finding
		Failures   []replay.FailureRow
		FindingErr string
	}
	if b.Summary, err = s.store.MinificationSummary(ctx, id); err != nil {
		return view{}, err
	}
	if b.Minimal, err = s.minimal(ctx, id, 0); err != nil {
		return view{}, err
	}
	passes, spans, err := s.store.Course(ctx, id, b.Summary.Steps, 150)
	if err != nil {
		return view{}, err
	}
	b.Passes = passes
	b.Plot = stepsPlot(b.Summary.StartCalls, spans)
	b.Taken = r.FormValue("taken") != ""
	steps, err := s.store.StepPage(ctx, id, int(after), b.Taken, pageRows+1)
	if err != nil {
		return view{}, err
	}
	var next bool
	if b.Steps, next = more(steps, pageRows); next {
		if b.Next, err = query(fmt.Sprintf("/minifications/%d", id), "after", b.Steps[pageRows-1].Seq, "taken", r.FormValue("taken")); err != nil {
			return view{}, err
		}
	}
	if after == 0 && !b.Taken { // once, and not beside every page of the journal
		tree, err := s.store.StepPage(ctx, id, 0, false, treeSteps+1)
		if err != nil {
			return view{}, err
		}
		if tree, b.TreeLeft = more(tree, treeSteps); len(tree) > 0 {
			b.Tree = states(tree)
		}
	}
	if b.Findings, err = s.store.Findings(ctx, id); err != nil {
		b.FindingErr = err.Error()
	}
	b.Failures, err = s.store.FailuresOf(ctx, "minification", id, 20)
	return view{name: "minification", Title: fmt.Sprintf("Minification %d", id), Nav: "/minifications", Body: b}, err
}

// treeSteps is how much of a journal is shown as a tree.
const treeSteps = 2000

// stateRow is a state of a search with the candidates that were made of it.
type stateRow struct {
	Number  int    // from 0, the graph at the start
	From    string // the edit that led to it, "" at the start
	Count   int    // of all candidates
	Verdict []replay.NamedCount
	Groups  []stateGroup
	Next    []stateLink // states that candidates became
}

// stateGroup are the candidates of a state by one reduction.
type stateGroup struct {
	Reduction string
	Steps     []replay.Step
}

// stateLink is a candidate that was taken.
type stateLink struct {
	Edit string
	To   int // number of the state; -1: nothing was made of it
}

// states sorts a journal by the state that each step edited, in the order in which they came.
func states(steps []replay.Step) []stateRow {
	at := map[string]int{}
	from := map[string]string{}
	var out []stateRow
	for _, st := range steps {
		i, ok := at[st.Parent]
		if !ok {
			i = len(out)
			at[st.Parent] = i
			out = append(out, stateRow{Number: i, From: from[st.Parent]})
		}
		row := &out[i]
		row.Count++
		v := slices.IndexFunc(row.Verdict, func(n replay.NamedCount) bool { return n.Name == string(st.Verdict) })
		if v < 0 {
			v = len(row.Verdict)
			row.Verdict = append(row.Verdict, replay.NamedCount{Name: string(st.Verdict)})
		}
		row.Verdict[v].Count++
		if n := len(row.Groups); n == 0 || row.Groups[n-1].Reduction != st.Reduction {
			row.Groups = append(row.Groups, stateGroup{Reduction: st.Reduction})
		}
		g := &row.Groups[len(row.Groups)-1]
		g.Steps = append(g.Steps, st)
		if st.Taken {
			from[st.Candidate] = st.Reduction + " " + st.Edit
		}
	}
	for _, st := range steps {
		if !st.Taken {
			continue
		}
		to, ok := at[st.Candidate]
		if !ok {
			to = -1
		}
		row := &out[at[st.Parent]]
		row.Next = append(row.Next, stateLink{st.Reduction + " " + st.Edit, to})
	}
	return out
}

// stepsPlot is what was left of the graph after each stretch of a search, by the time that its steps took together, with marks where one was taken.
func stepsPlot(start int, spans []replay.StepsSpan) *plot {
	if len(spans) < 2 {
		return nil
	}
	p := series{Title: stepsTitle, Unit: "calls", Step: true}
	var sum time.Duration
	calls := start
	for i, sp := range spans {
		sum += sp.Time
		if sp.Calls > 0 {
			calls = sp.Calls
		}
		if calls == 0 { // an earlier version wrote the journal
			return nil
		}
		p.Y, p.Labels = append(p.Y, float64(calls)), append(p.Labels, fmt.Sprintf("%.1f s", sum.Seconds()))
		if sp.Taken > 0 {
			p.Marks = append(p.Marks, i)
		}
	}
	return p.draw()
}

// stepsTitle says what stepsPlot shows.
const stepsTitle = "Calls left of the graph, by the seconds that the search's steps took. A triangle stands where a smaller graph was found."

func (s *Server) graph(r *http.Request) (view, error) {
	page, err := numberOr(r, "page", 1)
	if err != nil {
		return view{}, err
	}
	hash := r.FormValue("hash")
	text, err := s.store.Graph(r.Context(), hash)
	if err != nil {
		return view{}, err
	}
	var b struct {
		Hash    string
		Graph   *drawing
		NoGraph string
		Text    *block
	}
	b.Hash = hash
	if b.Graph, err = s.artist.drawText(r.Context(), "graph", hash, text, int(min(page, 1<<20))); err != nil {
		b.NoGraph = err.Error()
		b.Text = newBlock("graph", text, "")
	}
	return view{name: "graph", Title: "Graph", Nav: "/failures", Body: b}, r.Context().Err()
}

// nightLine is a night with what it said.
type nightLine struct {
	replay.NightRow
	News []replay.NamedCount
}

func (s *Server) nightLines(ctx context.Context, bot string, before int64, n int) ([]nightLine, int64, error) {
	rows, err := s.store.NightPage(ctx, bot, before, n+1)
	if err != nil {
		return nil, 0, err
	}
	rows, next := more(rows, n)
	var ids []int64
	for _, x := range rows {
		ids = append(ids, x.ID)
	}
	news, err := s.store.NewsCounts(ctx, ids)
	if err != nil {
		return nil, 0, err
	}
	var out []nightLine
	for _, x := range rows {
		out = append(out, nightLine{x, news[x.ID]})
	}
	last := int64(0)
	if next {
		last = rows[n-1].ID
	}
	return out, last, nil
}

func (s *Server) nights(r *http.Request) (view, error) {
	before, err := numberOr(r, "before", 0)
	if err != nil {
		return view{}, err
	}
	var b struct {
		Bot  string
		Bots []string
		Rows []nightLine
		Next string
	}
	b.Bot = r.FormValue("bot")
	if b.Bots, err = s.store.Bots(r.Context()); err != nil {
		return view{}, err
	}
	var last int64
	if b.Rows, last, err = s.nightLines(r.Context(), b.Bot, before, pageRows); err == nil && last > 0 {
		b.Next, err = query("/nights", "bot", b.Bot, "before", last)
	}
	return view{name: "nights", Title: "Nights", Nav: "/nights", Body: b}, err
}

// newsRows is how many lines of a night's report are shown.
const newsRows = 300

func (s *Server) night(r *http.Request) (view, error) {
	ctx := r.Context()
	id, err := number(r.PathValue("id"))
	if err != nil {
		return view{}, err
	}
	var b struct {
		replay.NightRow
		News     []replay.NewsRow
		MoreNews bool
		Tree     *tree
		NoTree   string
		Raw      string
	}
	if b.NightRow, err = s.store.NightByID(ctx, id); err != nil {
		return view{}, err
	}
	news, err := s.store.NewsPage(ctx, replay.NewsFilter{Night: id, Limit: newsRows + 1})
	if err != nil {
		return view{}, err
	}
	b.News, b.MoreNews = more(news, newsRows)
	if b.Report != "" {
		b.Raw = fmt.Sprintf("/text/night/%d/report", id)
		text, err := s.store.Blob(ctx, b.Report)
		if err == nil {
			b.Tree, err = parseTree(text)
		}
		if err != nil {
			b.NoTree = err.Error()
		}
	}
	return view{name: "night", Title: fmt.Sprintf("Night %d", id), Nav: "/nights", Body: b}, ctx.Err()
}

// outcomeText is what a stored outcome says, in a line.
func outcomeText(text string) string {
	var o replay.Outcome
	if json.Unmarshal([]byte(text), &o) != nil {
		return text
	}
	if t := o.Signature.String(); t != "" {
		return t
	}
	return o.Message
}
