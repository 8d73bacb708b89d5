package trace

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/sourcegraph/conc/pool"

	"whittle/tools/whittle/layout"
	"whittle/tools/whittle/serve/look"
)

//go:embed report.html
var reportHTML string

//go:embed report.css
var reportCSS string

//go:embed report.js
var reportJS string

// The texts that the page's policy names by their hashes, as they stand in it.
var (
	style  = "\n" + look.Style + reportCSS
	script = "\n" + layout.Dagre + "\n" + layout.Script + "\n" + reportJS
)

// Policy is what the page may do: run its own script, and nothing else.
var Policy = fmt.Sprintf("default-src 'none'; script-src 'sha256-%s'; style-src 'sha256-%s'; img-src data:; base-uri 'none'; form-action 'none'", sum(script), sum(style))

func sum(text string) string {
	h := sha256.Sum256([]byte(text))
	return base64.StdEncoding.EncodeToString(h[:])
}

// overview is what the template is given.
type overview struct {
	*Trace
	Title           string
	Policy          template.HTMLAttr
	Trees           []forest
	Frames          int
	GraphCount, Ops int
	Recompiles      int
	BreakCount      int
	ErrorCount      int
	Time, Wall      float64
	Errors          []*Compile
	Reasons         []reason
	Chains          []chain
	Blamed          []blamed
	Slowest         []*Compile
	Phases          []Phase
	PhaseSum        float64
	CacheRows       []cacheRow
	Bars            []bar
	Lanes           int
	Hits, Misses    int
	Program         string
}

// forest is the tree of a log.
type forest struct {
	Log      string
	Branches []*branch
}

// reason is a break that came more than once, perhaps.
type reason struct {
	Break
	N  int
	At []*Compile
}

// chain is a frame that was compiled more than once.
type chain struct {
	First *Compile
	Again []*Compile
}

// blamed is a guard that failed.
type blamed struct {
	Guard
	Of *Compile
}

type cacheRow struct {
	Cache             string
	Hit, Miss, Bypass int
	Saved             float64
	Where             []*Compile
}

// bar is a compilation on the line of time, in thousandths.
type bar struct {
	X, Width float64
	Lane     int
	Class    string
}

const (
	rowsShown  = 50 // of a list of the overview; the tree has all
	barsShown  = 2000
	phasesOver = 40
)

// overview adds a trace up.
func (t *Trace) overview() *overview {
	o := &overview{Trace: t, Policy: template.HTMLAttr(`content="` + Policy + `"`)}
	for i, name := range t.Files {
		o.Trees = append(o.Trees, forest{name, t.tree(i)})
	}
	reasons := map[string]int{}
	chains := map[int]int{}
	caches := map[string]int{}
	spans := [][]Span{t.Spans}
	for _, c := range t.Compiles {
		spans = append(spans, c.Spans)
		o.Time += c.Took
		if c.Before < 0 {
			o.Frames++
		} else {
			o.Recompiles++
			at, ok := chains[c.Before]
			if !ok {
				at = len(o.Chains)
				o.Chains = append(o.Chains, chain{First: t.Compiles[c.Before]})
			}
			chains[c.Number] = at
			o.Chains[at].Again = append(o.Chains[at].Again, c)
		}
		if c.Error != "" {
			o.ErrorCount++
			if len(o.Errors) < rowsShown {
				o.Errors = append(o.Errors, c)
			}
		}
		for _, g := range c.Graphs {
			if g.Kind == "dynamo_output_graph" {
				o.GraphCount++
				o.Ops += g.Ops
			}
		}
		for _, b := range c.Breaks {
			o.BreakCount++
			key := fmt.Sprint(b.Reason, "\x00", b.File, b.Line)
			at, ok := reasons[key]
			if !ok {
				at = len(o.Reasons)
				reasons[key] = at
				o.Reasons = append(o.Reasons, reason{Break: b})
			}
			o.Reasons[at].N++
			o.Reasons[at].At = append(o.Reasons[at].At, c)
		}
		for _, g := range c.Guards {
			if g.Failed > 0 {
				o.Blamed = append(o.Blamed, blamed{g, c})
			}
		}
		for _, x := range c.Caches {
			at, ok := caches[x.Cache]
			if !ok {
				at = len(o.CacheRows)
				caches[x.Cache] = at
				o.CacheRows = append(o.CacheRows, cacheRow{Cache: x.Cache})
			}
			row := &o.CacheRows[at]
			switch x.Hit {
			case "hit":
				row.Hit++
				o.Hits++
				row.Where = append(row.Where, c)
			case "miss":
				row.Miss++
				o.Misses++
			default:
				row.Bypass++
			}
		}
		if o.Program == "" && len(c.Stack) > 0 {
			o.Program = c.Stack[0].File
		} else if o.Program == "" {
			o.Program = c.File
		}
	}
	o.Title = cmpOr(short(o.Program), "trace")
	slices.SortStableFunc(o.Reasons, func(a, b reason) int { return b.N - a.N })
	slices.SortStableFunc(o.Blamed, func(a, b blamed) int { return b.Failed - a.Failed })
	slices.SortStableFunc(o.Chains, func(a, b chain) int { return len(b.Again) - len(a.Again) })
	o.Slowest = slices.Clone(t.Compiles)
	slices.SortStableFunc(o.Slowest, func(a, b *Compile) int {
		switch {
		case a.Took > b.Took:
			return -1
		case a.Took < b.Took:
			return 1
		}
		return 0
	})
	o.Phases = phases(spans...)
	for _, p := range o.Phases {
		o.PhaseSum += p.Self
	}
	o.timeline()
	return o
}

// Summary is the trace in a line.
func (t *Trace) Summary() string {
	o := t.overview()
	n := func(n int, one, many string) string {
		switch n {
		case 0:
			return "no " + one
		case 1:
			return "1 " + one
		}
		return fmt.Sprint(n, " ", many)
	}
	text := strings.Join([]string{n(o.Frames, "frame", "frames"), n(o.GraphCount, "graph", "graphs"), n(o.BreakCount, "graph break", "graph breaks"), n(o.Recompiles, "recompile", "recompiles")}, ", ")
	if o.ErrorCount > 0 {
		text += ", " + n(o.ErrorCount, "failure", "failures")
	}
	return text + ", " + micros(o.Time) + " of compilation"
}

// timeline puts the compilations on a line of time, one below the other where they overlap.
func (o *overview) timeline() {
	var list []*Compile
	for _, c := range o.Compiles {
		if c.Began > 0 {
			list = append(list, c)
		}
	}
	if len(list) == 0 {
		return
	}
	slices.SortStableFunc(list, func(a, b *Compile) int {
		switch {
		case a.Began < b.Began:
			return -1
		case a.Began > b.Began:
			return 1
		}
		return 0
	})
	from, to := list[0].Began, list[0].Began
	for _, c := range list {
		to = max(to, c.Began+c.Took)
	}
	o.Wall = to - from
	if o.Wall <= 0 {
		return
	}
	var ends []float64
	for _, c := range first(barsShown, list) {
		lane := 0
		for lane < len(ends) && ends[lane] > c.Began {
			lane++
		}
		if lane == len(ends) {
			if lane > 20 {
				continue
			}
			ends = append(ends, 0)
		}
		ends[lane] = c.Began + c.Took
		o.Bars = append(o.Bars, bar{1000 * (c.Began - from) / o.Wall, max(1000*c.Took/o.Wall, 0.7), lane, signs[c.Status].Class})
	}
	o.Lanes = len(ends)
}

func first[T any](n int, list []T) []T { return list[:min(n, len(list))] }

// broken is a name that a line may break behind its signs.
func broken(name string) template.HTML {
	var b strings.Builder
	b.WriteString(`<span class="name">`)
	for i, part := range strings.SplitAfter(name, "_") {
		if i > 0 {
			b.WriteString("<wbr>")
		}
		b.WriteString(template.HTMLEscapeString(part))
	}
	b.WriteString("</span>")
	return template.HTML(b.String())
}

var pageFuncs = template.FuncMap{
	"sign": func(c *Compile) sign { return signs[c.Status] }, "place": place, "took": micros, "short": short, "line": oneLine, "brief": brief,
	"size":    bytesText,
	"broken":  broken,
	"percent": func(part, of float64) string { return fmt.Sprintf("%.0f %%", 100*part/max(of, 1e-9)) },
	"lanes":   func(n int) int { return max(16*n, 16) }, "lane": func(n int) int { return 16*n + 2 },
	"count": func(n int, one string) string {
		if n == 1 {
			return "1 " + one
		}
		if strings.HasSuffix(one, "s") {
			one += "e"
		}
		return fmt.Sprint(n, " ", one, "s")
	},
	"rows": func(list any) (any, error) {
		switch l := list.(type) {
		case []*Compile:
			return first(rowsShown, l), nil
		case []reason:
			return first(rowsShown, l), nil
		case []chain:
			return first(rowsShown, l), nil
		case []blamed:
			return first(rowsShown, l), nil
		case []Phase:
			return first(phasesOver, l), nil
		}
		return nil, fmt.Errorf("rows of %T", list)
	},
	"left": func(n int) int { return max(n-rowsShown, 0) },
	"why": func(c *Compile) *Failure {
		if len(c.Why) == 0 {
			return nil
		}
		return &c.Why[0]
	},
	"clip": func(s string) string {
		if len(s) > 20_000 {
			return strings.ToValidUTF8(s[:20_000], "") + "\n…"
		}
		return s
	},
}

// oneLine is the start of a text, for a table.
func oneLine(s string) string {
	s, _, more := strings.Cut(strings.TrimSpace(s), "\n")
	if r := []rune(s); len(r) > 160 {
		return string(r[:160]) + "…"
	}
	if more {
		s += " …"
	}
	return s
}

// brief is the start of a reason, for the tree.
func brief(s string) string {
	s = strings.TrimPrefix(oneLine(s), "Unsupported: ")
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}

// bytesText is a number of bytes for people.
func bytesText(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}

var page = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("report").Funcs(pageFuncs).Parse(reportHTML))
})

// Report is the page, whole.
func (t *Trace) Report() ([]byte, error) {
	// The policy names style and script by their hashes: they stand as they are.
	var out bytes.Buffer
	o := t.overview()
	for _, part := range []struct{ template, then string }{{"start", "<style>" + style + "</style>\n"}, {"body", "<script>" + script + "</script>\n"}} {
		var b bytes.Buffer
		if err := page().ExecuteTemplate(&b, part.template, o); err != nil {
			return nil, err
		}
		out.Write(look.Visible(b.Bytes()))
		out.WriteString(part.then)
	}
	islands := make([][]byte, len(t.Compiles)+1)
	p := pool.New().WithErrors().WithMaxGoroutines(runtime.GOMAXPROCS(0))
	for i, c := range t.Compiles {
		p.Go(func() (err error) {
			islands[i], err = island(fmt.Sprintf("d%d", i), c)
			return err
		})
	}
	p.Go(func() (err error) {
		islands[len(t.Compiles)], err = island("shared", t.Shared)
		return err
	})
	if err := p.Wait(); err != nil {
		return nil, err
	}
	for _, b := range islands {
		out.Write(b)
	}
	out.WriteString("</body>\n</html>\n")
	return out.Bytes(), nil
}

// writers are kept, as a new one clears a megabyte of memory.
var writers sync.Pool

// island is JSON that the page's script reads when it is asked for: compressed, and in letters that mean nothing to a browser.
func island(id string, v any) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, `<script type="application/gzip" id="%s">`, id)
	w := base64.NewEncoder(base64.StdEncoding, &b)
	z, ok := writers.Get().(*gzip.Writer)
	if !ok {
		var err error
		if z, err = gzip.NewWriterLevel(nil, gzip.BestSpeed); err != nil {
			return nil, err
		}
	}
	defer writers.Put(z)
	z.Reset(w)
	e := json.NewEncoder(z)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	b.WriteString("</script>\n")
	return b.Bytes(), nil
}
