package trace

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	udiff "github.com/aymanbagabas/go-udiff"

	"whittle/capture/breaks"
	"whittle/capture/guard"
)

// reFrame is a line of a traceback.
var reFrame = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ +File "(.*)", line (\d+), in `) })

// broken reads why a graph ended. PyTorch 2.6 says it in a line, later ones in a block with explanation, hints and the address of a page.
func (c *Compile) broken(r *Record) {
	text := r.Payload()
	b := Break{Attempt: r.Attempt, Text: c.text(text)}
	var state string
	for i, l := range strings.Split(text, "\n") {
		body := strings.TrimSpace(l)
		switch {
		case i == 0:
			if _, place, ok := strings.Cut(l, "user code at "); ok {
				if at := strings.LastIndexByte(place, ':'); at >= 0 {
					b.File = place[:at]
					b.Line, _ = strconv.Atoi(place[at+1:]) // 0: not known
				}
			}
		case body == "User code traceback:":
			state = "stack"
		case strings.HasPrefix(body, "Traceback "):
			state = "done"
		case state == "done":
		case state == "stack":
			if m := reFrame().FindStringSubmatch(l); m != nil {
				b.places = append(b.places, m[1]+":"+m[2])
			}
		case strings.HasPrefix(body, "Reason: "):
			b.Reason, state = strings.TrimPrefix(body, "Reason: "), "reason"
		case strings.HasPrefix(body, "Graph Break Reason: "):
			b.Reason, state = strings.TrimPrefix(body, "Graph Break Reason: "), "block"
		case strings.HasPrefix(body, "Explanation: "):
			b.Explain, state = strings.TrimPrefix(body, "Explanation: "), "explain"
		case strings.HasPrefix(body, "Hint: "):
			b.Hints, state = append(b.Hints, strings.TrimPrefix(body, "Hint: ")), "hint"
		case strings.HasPrefix(body, "Developer debug context: "):
			state = "block"
		case strings.Contains(body, "please visit: https://"):
			_, url, _ := strings.Cut(body, "please visit: ")
			b.Docs, _, _ = strings.Cut(url, " ")
		case body == "":
			if state == "hint" || state == "explain" {
				state = "block"
			}
		case state == "block" && strings.HasPrefix(b.Reason, "Encountered graph break"):
			b.Reason = body
		case state == "reason":
			b.Reason += "\n" + l
		case state == "explain":
			b.Explain += " " + body
		case state == "hint":
			b.Hints[len(b.Hints)-1] += " " + body
		}
	}
	if id, ok := breaks.Find(b.Reason); ok && len(b.Hints) == 0 {
		if h := id.Row().Hint; h != "" {
			b.Hints = []string{h}
		}
		b.Docs = id.Row().Docs
	}
	c.Breaks = append(c.Breaks, b)
}

var reSource = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[LG]\['[^']*'\](?:\.\w+|\[[^\]]*\])*`) })

// again reads why earlier code did not do: a list of texts, each with the compilation that it is about.
func (c *Compile) again(r *Record) {
	var list []string
	if json.Unmarshal([]byte(r.Payload()), &list) != nil {
		c.other(r)
		return
	}
	c.Why = c.Why[:0]
	for _, text := range list {
		of, why, ok := strings.Cut(text, ": ")
		if !ok || !strings.Contains(of, "/") {
			of, why = "", text
		}
		c.Why = append(c.Why, Failure{Of: of, Number: -1, Why: why, Source: reSource().FindString(why), Hint: guard.HintOf(why)})
	}
}

func (c *Compile) failed(r *Record) {
	text := strings.TrimSpace(r.Payload())
	c.Error = lastLine(text)
	c.Others = slices.Insert(c.Others, 0, &Text{Title: "Error", Text: c.text(text)})
}

// lastLine is the line of a traceback that says what happened.
func lastLine(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range slices.Backward(lines) {
		if i > 0 && (strings.HasPrefix(l, " ") || l == "") {
			continue
		}
		if !strings.HasPrefix(l, "Set TORCH") && !strings.HasPrefix(l, "You can suppress") {
			return l
		}
	}
	return lines[0]
}

// guards reads the tree of guards: a line each, with its depth drawn before it.
func (c *Compile) guards(r *Record) {
	text := r.Payload()
	c.tree = text
	c.Guards = c.Guards[:0]
	depth, source := 0, ""
	sources := map[int]string{}
	for _, l := range strings.Split(text, "\n") {
		at := strings.Index(l, "+- ")
		if at < 0 {
			continue
		}
		depth = at / 2
		kind, rest, ok := strings.Cut(l[at+3:], ":")
		if !ok {
			kind, rest = l[at+3:], ""
		}
		kind, rest = strings.TrimSpace(kind), strings.TrimSpace(rest)
		if strings.HasSuffix(kind, "Manager") {
			source = ""
			if s, _, ok := strings.Cut(strings.TrimPrefix(rest, "source="), ", accessed_by="); ok {
				source = s
			}
			sources[depth] = source
			continue
		}
		g := Guard{Kind: kind, Text: rest, Depth: depth, Source: sources[depth-1]}
		if g.Source == "" {
			g.Source = reSource().FindString(rest)
		}
		c.Guards = append(c.Guards, g)
	}
}

// blame counts a failure at the guard that it was of: one about the same source, whose kind fits the words.
func (c *Compile) blame(source, why string) {
	best := -1
	for i, g := range c.Guards {
		if source == "" || g.Source != source {
			continue
		}
		tensor := strings.HasPrefix(why, "tensor '")
		if best < 0 || tensor && g.Kind == "TENSOR_MATCH" || !tensor && strings.HasPrefix(why, g.Text[:min(len(g.Text), 20)]) {
			best = i
		}
	}
	if best < 0 {
		for i, g := range c.Guards {
			if strings.HasPrefix(strings.TrimSpace(g.Text), strings.TrimSpace(strings.SplitN(why, "#", 2)[0])) && strings.TrimSpace(why) != "" {
				best = i
				break
			}
		}
	}
	if best >= 0 {
		c.Guards[best].Failed++
	}
}

// reAddress are numbers that say nothing: addresses, and the counters in names of Dynamo's own.
var reAddress = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b\d{12,}\b|___\d+\b`) })

// differ compares two trees of guards. What reAddress finds differs in any case, and is left out.
func differ(before, after string) []Diff {
	tidy := func(s string) string {
		s = reAddress().ReplaceAllString(s, "…")
		var out []string
		for _, l := range strings.Split(s, "\n") {
			out = append(out, strings.TrimRight(l, " "))
		}
		return strings.Join(out, "\n") + "\n"
	}
	if before == "" || after == "" || len(before)+len(after) > 400_000 {
		return nil
	}
	a, b := tidy(before), tidy(after)
	if a == b {
		return nil
	}
	var out []Diff
	for i, l := range strings.Split(strings.TrimRight(udiff.Unified("a", "b", a, b), "\n"), "\n") {
		if i < 2 || l == "" {
			continue
		}
		switch l[0] {
		case '+', '-', ' ':
			out = append(out, Diff{l[:1], l[1:]})
		case '@':
			out = append(out, Diff{"@", "…"})
		}
		if len(out) > 400 {
			break
		}
	}
	return out
}

// code reads generated code, and what parts it has.
func (c *Compile) code(r *Record) {
	var m struct{ Filename string }
	_ = json.Unmarshal(r.Meta, &m) // "" is no name
	text := r.Payload()
	k := Code{Title: "Generated code", File: m.Filename, Text: c.text(text), Graph: -1}
	head, _, _ := strings.Cut(text, "\n")
	if id, ok := strings.CutPrefix(head, "# AOT ID: "); ok {
		for _, what := range []string{"forward", "backward", "inference"} {
			if strings.Contains(id, what) {
				k.Title = "Generated code, " + what
			}
		}
	} else if len(c.Codes) > 0 && slices.ContainsFunc(c.Graphs, func(g *Graph) bool { return g.Kind == "aot_backward_graph" }) {
		k.Title = "Generated code, backward"
	}
	for i := range c.Codes {
		if c.Codes[i].Text == k.Text { // said twice
			return
		}
	}
	// The nodes that it computes are those of the graph that was last written before it.
	for i, g := range slices.Backward(c.Graphs) {
		if g.Kind == "inductor_post_grad_graph" {
			k.Graph = i
			break
		}
	}
	if k.Graph < 0 {
		want := map[bool]string{true: "aot_backward_graph", false: "aot_forward_graph"}[strings.HasSuffix(k.Title, "backward")]
		for i, g := range c.Graphs {
			if g.Kind == want || g.Kind == "aot_inference_graph" {
				k.Graph = i
			}
		}
	}
	c.Codes = append(c.Codes, k)
}

var (
	reKernel = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\s*(?:(\w*fused_\w+) = async_compile\.|(?:extern "C" +)?(?:static )?void +(kernel\d+)\(|def ((?:triton|cpp)_\w*fused_\w+)\()`)
	})
	reCall = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\s+(?:(\w*fused_\w+?)(?:\.run)?|(extern_kernels\.\w+|torch\.ops\.[\w.]+)|case \d+: (kernel\d+))\(`)
	})
	reNodes = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:Source Nodes|Topologically Sorted Source Nodes): \[([^\]]*)\], Original ATen: \[([^\]]*)\]`)
	})
)

// link finds the parts of generated code and the nodes that each computes: by the comment that names them, or by the operators in the part's name.
func (c *Compile) link(k *Code) {
	if k.Graph < 0 || k.Graph >= len(c.Graphs) {
		return
	}
	g := c.Graphs[k.Graph]
	byName := map[string]int{}
	byOp := map[string][]int{}
	for i, n := range g.Nodes {
		byName[n.Name] = i
		if op := baseOf(n.Op); n.Op != "placeholder" && n.Op != "output" {
			byOp[op] = append(byOp[op], i)
		}
	}
	at := map[string]int{}
	var named []int // by the comment above
	var above []int // by a comment that is a list of nodes, right before a definition
	used := map[int]bool{}
	for number, l := range strings.Split(c.Texts[k.Text], "\n") {
		if list, ok := strings.CutPrefix(l, "// "); ok {
			above = listed(list, byName)
			continue
		}
		if m := reNodes().FindStringSubmatch(l); m != nil {
			named = named[:0]
			for _, op := range strings.Split(m[2], ", ") {
				for _, i := range byOp[baseOf(op)] {
					if !used[i] {
						named = appendOnce(named, i)
						break
					}
				}
			}
			for _, n := range strings.Split(m[1], ", ") {
				if i, ok := byName[n]; ok {
					named = appendOnce(named, i)
				}
			}
			continue
		}
		if m := reKernel().FindStringSubmatch(l); m != nil {
			name := m[1] + m[2] + m[3]
			if _, ok := at[name]; !ok {
				at[name] = len(k.Kernels)
				part := Kernel{Name: name, Line: number + 1, Nodes: above, Exact: true}
				if len(above) == 0 {
					part.Nodes, part.Exact = nodesIn(name, byOp), false
				}
				k.Kernels = append(k.Kernels, part)
			}
			above = nil
			continue
		}
		above = nil
		m := reCall().FindStringSubmatch(l)
		if m == nil {
			continue
		}
		name := m[1] + m[2] + m[3]
		i, ok := at[name]
		if !ok || m[2] != "" { // each call of a library is a part of its own
			i = len(k.Kernels)
			at[name] = i
			k.Kernels = append(k.Kernels, Kernel{Name: name, Line: number + 1})
			if m[2] != "" && len(named) == 0 {
				for _, n := range byOp[baseOf(name[strings.IndexByte(name, '.')+1:])] {
					if !used[n] {
						k.Kernels[i].Nodes = []int{n}
						break
					}
				}
			}
		}
		if k.Kernels[i].Call == 0 {
			k.Kernels[i].Call = number + 1
		}
		if len(named) > 0 {
			k.Kernels[i].Nodes, k.Kernels[i].Exact = slices.Clone(named), true
			slices.Sort(k.Kernels[i].Nodes)
			named = named[:0]
		}
		for _, n := range k.Kernels[i].Nodes {
			used[n] = true
		}
	}
	for i := range k.Kernels {
		k.Kernels[i].Nodes = slices.Compact(k.Kernels[i].Nodes)
	}
}

// listed are the nodes of a list of names; nil where one of them is none.
func listed(list string, byName map[string]int) []int {
	var out []int
	for _, name := range strings.Split(list, ", ") {
		i, ok := byName[name]
		if !ok {
			return nil
		}
		out = appendOnce(out, i)
	}
	slices.Sort(out)
	return out
}

// baseOf is an operator without its namespace and overload: add of aten.add.Tensor.
func baseOf(op string) string {
	op = strings.TrimPrefix(strings.TrimPrefix(op, "torch.ops."), "aten.")
	name, _, _ := strings.Cut(op, ".")
	return name
}

// nodesIn are the nodes of a graph whose operators a kernel's name lists, as cpp_fused_add_sin_0 does: nil unless all of the name is made of operators that the graph has. Others are
// of the time before decomposition, and say nothing about its nodes.
func nodesIn(kernel string, byOp map[string][]int) []int {
	_, list, ok := strings.Cut(kernel, "fused_")
	if !ok {
		return nil
	}
	if at := strings.LastIndexByte(list, '_'); at > 0 {
		list = list[:at] // the number
	}
	words := strings.Split(list, "_")
	// from[i] is where the operator begins that ends before word i; -1: none does.
	from := make([]int, len(words)+1)
	for i := 1; i <= len(words); i++ {
		from[i] = -1
		for j := range i {
			if from[j] >= 0 && byOp[strings.Join(words[j:i], "_")] != nil {
				from[i] = j
				break
			}
		}
	}
	var out []int
	for i := len(words); i > 0; i = from[i] {
		if from[i] < 0 {
			return nil
		}
		for _, n := range byOp[strings.Join(words[from[i]:i], "_")] {
			out = appendOnce(out, n)
		}
	}
	slices.Sort(out)
	return out
}

// cache reads an answer of a cache.
func (c *Compile) cache(r *Record) {
	name, hit, ok := strings.Cut(r.Name, "_cache_")
	if !ok {
		c.other(r)
		return
	}
	text := r.Payload()
	var v struct {
		Key    string
		Reason string  `json:"cache_bypass_reason"`
		Saved  float64 `json:"time_saved_ms"`
	}
	// The parts of a key are long, and nothing of them is needed. They are the only list.
	from, to := strings.Index(text, `"components": [`), strings.LastIndexByte(text, ']')
	if from < 0 || to < from || json.Unmarshal([]byte(text[:from]+`"components": [`+text[to:]), &v) != nil {
		_ = json.Unmarshal([]byte(text), &v) // what is not there stays empty
	}
	x := Cache{Cache: map[string]string{"fx_graph": "FX graph", "aotautograd": "AOTAutograd"}[name], Hit: hit, Key: v.Key, Why: v.Reason}
	if hit == "hit" && v.Saved > 0 {
		x.Saved = micros(v.Saved * 1000)
	}
	c.Caches = append(c.Caches, x)
	c.Others = append(c.Others, &Text{Title: x.Cache + " cache, " + hit, Text: c.text(text)})
}

// symbol reads what became of a size.
func (c *Compile) symbol(r *Record) {
	var v struct {
		Symbol, Val, Vr, Source, Value, Reason, Expr string
		Sources                                      []string
	}
	_ = json.Unmarshal(r.Meta, &v) // a field of another form stays empty
	s := Symbol{Symbol: v.Symbol, Value: v.Val, Source: v.Source, Range: v.Vr}
	switch r.Kind {
	case "create_symbol":
		s.What = "created"
	case "create_unbacked_symbol":
		s.What = "created, known only when it runs"
	case "symbolic_shape_specialization":
		s.What, s.Value, s.Source = "made a constant: "+v.Reason, v.Value, strings.Join(v.Sources, ", ")
	default:
		s.What, s.Symbol = strings.ReplaceAll(strings.TrimSuffix(r.Kind, "_fast"), "_", " "), v.Expr
	}
	c.Symbols = append(c.Symbols, s)
}

// metrics reads the figures of a compilation: what has no value is left out.
func (c *Compile) metrics(r *Record) {
	dec := json.NewDecoder(strings.NewReader(string(r.Meta)))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return
	}
	back := r.Kind != "compilation_metrics"
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return
		}
		name, _ := t.(string)
		var raw json.RawMessage
		if dec.Decode(&raw) != nil {
			return
		}
		text := string(raw)
		if text == "null" || text == "[]" || text == "{}" || text == `""` {
			continue
		}
		var s string
		if json.Unmarshal(raw, &s) == nil {
			text = s
		}
		if !back {
			switch name {
			case "co_name":
				if c.Name == "" {
					c.Name = text
				}
			case "co_filename":
				if c.File == "" {
					c.File = text
				}
			case "co_firstlineno":
				if n, err := strconv.Atoi(text); err == nil && c.Line == 0 {
					c.Line = n
				}
			case "fail_reason":
				if c.Error == "" {
					c.Error = lastLine(text)
				}
			case "duration_us":
				c.Took, _ = strconv.ParseFloat(text, 64) // 0: not known
			}
		}
		if back {
			name = "backward: " + name
		}
		c.Figures = append(c.Figures, Figure{Name: name, Value: text})
	}
}

// micros is a time for people.
func micros(us float64) string {
	switch {
	case us < 1000:
		return fmt.Sprintf("%.0f µs", us)
	case us < 1e6:
		return fmt.Sprintf("%.3g ms", us/1e3)
	case us < 60e6:
		return fmt.Sprintf("%.3g s", us/1e6)
	}
	return fmt.Sprintf("%.0f min %.0f s", float64(int(us/60e6)), us/1e6-60*float64(int(us/60e6)))
}
