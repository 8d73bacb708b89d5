package trace

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/sourcegraph/conc/pool"
)

// A Trace is what one run of a program, or several, did. Read makes it; nothing changes it afterwards.
type Trace struct {
	Files    []string
	Version  string // of PyTorch, where the trace says it
	Compiles []*Compile
	Kinds    []Count // of records, the most frequent first
	Unknown  []Count // those of them that have no row in the table
	Loose    []Loose // what belongs to no compilation
	Problems []Problem
	Bytes    int64
	Spans    []Span // of no compilation
	Shared   map[string]string

	root string // of the torch package, with a slash at the end; "" is not known
}

// A Count is how often something is there.
type Count struct {
	Name string
	N    int
}

// A Compile is one compilation of one frame. Its records may come from several attempts, of which the last one counts.
type Compile struct {
	Number   int    `json:"number"` // in the trace, from 0
	ID       string `json:"id"`     // frame and compilation: 0/1
	Log      int    `json:"log"`    // place of the trace's file
	Name     string `json:"name"`
	Called   string `json:"called"` // the name for people
	File     string `json:"file"`
	Line     int    `json:"line"`
	Attempts int    `json:"attempts"`
	Status   Status `json:"status"`
	Error    string `json:"error,omitempty"` // its first words
	Stack    []Call `json:"stack,omitempty"`

	Why     []Failure `json:"why,omitempty"` // it was compiled although there was code already
	Differ  []Diff    `json:"differ,omitempty"`
	Before  int       `json:"before"` // number of the compilation of this frame before it, -1: none
	Breaks  []Break   `json:"breaks,omitempty"`
	Graphs  []*Graph  `json:"graphs,omitempty"`
	Guards  []Guard   `json:"guards,omitempty"`
	Codes   []Code    `json:"codes,omitempty"`
	Caches  []Cache   `json:"caches,omitempty"`
	Symbols []Symbol  `json:"symbols,omitempty"`
	Others  []*Text   `json:"others,omitempty"`
	Spans   []Span    `json:"spans,omitempty"`
	Figures []Figure  `json:"figures,omitempty"`
	Sources []*Source `json:"sources,omitempty"`
	Texts   []string  `json:"texts,omitempty"`

	Began  float64 `json:"began"`  // in microseconds, 0: not known
	Took   float64 `json:"took"`   // in microseconds
	Failed int     `json:"failed"` // how often a guard of it failed and the frame was compiled again

	records []*Record
	texts   map[string]int
	events  []event
	tree    string
}

// Status says how a compilation ended.
type Status string

// The statuses. Of several that fit, the first one counts.
const (
	Error  Status = "error" // an exception ended it
	Broken Status = "break" // its graph ends before its function does
	Empty  Status = "empty" // it has no graph: the frame runs as it is
	Again  Status = "again" // it replaces, or joins, an earlier one of the frame
	Whole  Status = "whole" // one graph, the first of its frame
	Open   Status = "open"  // the trace ends in it
)

// A Text is a text of a record that has no place of its own.
type Text struct {
	Title string `json:"title"`
	Text  int    `json:"text"`
}

// A Loose is a text that belongs to no compilation.
type Loose struct{ Title, Text string }

// A Failure is a guard of an earlier compilation that did not hold.
type Failure struct {
	Of     string `json:"of"`     // the compilation's ID, "" is not said
	Number int    `json:"number"` // -1: it is not in the trace
	Why    string `json:"why"`
	Source string `json:"source,omitempty"` // what the guard is about: L['x']
	Hint   string `json:"hint,omitempty"`
}

// A Diff is a line of the comparison of two sets of guards: Mark is +, - or a space.
type Diff struct {
	Mark string `json:"m"`
	Text string `json:"t"`
}

// A Break is a place where a graph ended.
type Break struct {
	File    string   `json:"file"`
	Line    int      `json:"line"`
	Reason  string   `json:"reason"`
	Explain string   `json:"explain,omitempty"`
	Hints   []string `json:"hints,omitempty"`
	Docs    string   `json:"docs,omitempty"`
	Attempt int      `json:"attempt"`
	Text    int      `json:"text"`

	places []string // file and line of each frame of the program that it goes through
}

// A Guard is a line of the tree of guards.
type Guard struct {
	Kind   string `json:"kind"`
	Source string `json:"source,omitempty"`
	Text   string `json:"text"`
	Depth  int    `json:"depth"`
	Failed int    `json:"failed,omitempty"` // how many compilations came after because it did not hold
}

// A Code is generated code.
type Code struct {
	Title   string   `json:"title"`
	File    string   `json:"file,omitempty"`
	Text    int      `json:"text"`
	Kernels []Kernel `json:"kernels,omitempty"`
	Graph   int      `json:"graph"` // place of the graph whose nodes the kernels name, -1: none
}

// A Kernel is a part of generated code that computes some nodes of a graph.
type Kernel struct {
	Name  string `json:"name"`
	Line  int    `json:"line"` // where it is defined
	Call  int    `json:"call,omitempty"`
	Nodes []int  `json:"nodes,omitempty"` // in the graph
	Exact bool   `json:"exact"`           // the code names the nodes; else they are those whose operators the kernel's name has
}

// A Cache is an answer of a cache.
type Cache struct {
	Cache string `json:"cache"`
	Hit   string `json:"hit"` // hit, miss or bypass
	Key   string `json:"key,omitempty"`
	Why   string `json:"why,omitempty"`
	Saved string `json:"saved,omitempty"`
}

// A Symbol is a size that is not fixed, or what became of it.
type Symbol struct {
	What   string `json:"what"`
	Symbol string `json:"symbol"`
	Value  string `json:"value,omitempty"`
	Source string `json:"source,omitempty"`
	Range  string `json:"range,omitempty"`
}

// A Figure is a measurement of a compilation.
type Figure struct {
	Name  string `json:"n"`
	Value string `json:"v"`
	Key   string `json:"k,omitempty"` // of a long value: its place in what compilations share
}

// A kind is what is done with records of a name. Those of graphs and of texts need no more than a title.
type kind struct {
	name  string // of the record, or of the artifact
	graph string // title, of a graph
	text  string // title, of another text
	do    func(*Compile, *Record)
}

// kinds are the records that are known, in the order in which a compilation writes its graphs. init fills the functions in.
var kinds = []kind{
	{name: "dynamo_start"},
	{name: "dynamo_output_graph", graph: "Captured graph"},
	{name: "compiled_autograd_graph", graph: "Compiled autograd"},
	{name: "optimize_ddp_split_graph", graph: "DDP, split"},
	{name: "optimize_ddp_split_child", graph: "DDP, part"},
	{name: "before_pre_grad_graph", graph: "Before the pre-grad passes"},
	{name: "after_pre_grad_graph", graph: "After the pre-grad passes"},
	{name: "inductor_pre_grad_graph", graph: "Before the pre-grad passes"},
	{name: "aot_joint_graph", graph: "Joint graph"},
	{name: "aot_inference_graph", graph: "Inference graph"},
	{name: "aot_forward_graph", graph: "Forward graph"},
	{name: "aot_backward_graph", graph: "Backward graph"},
	{name: "before_joint_graph", graph: "Before the joint passes"},
	{name: "after_joint_graph", graph: "After the joint passes"},
	{name: "before_post_grad_graph", graph: "Before the post-grad passes"},
	{name: "inductor_post_grad_graph", graph: "Post-grad graph"},
	{name: "ir_pre_fusion", text: "Loops before fusion"},
	{name: "inductor_ir_pre_fusion", text: "Loops before fusion"},
	{name: "ir_post_fusion", text: "Loops after fusion"},
	{name: "inductor_ir_post_fusion", text: "Loops after fusion"},
	{name: "autotune", text: "Kernels that were measured"},
	{name: "mode", text: "What the mode came to"},
	{name: "inductor_output_code", do: (*Compile).code},
	{name: "fx_graph_runnable", text: "Graph to run by itself"},
	{name: "dynamo_graph_break_reason", do: (*Compile).broken},
	{name: "dynamo_cpp_guards_str", do: (*Compile).guards},
	{name: "dynamo_guards", text: "Guards, as JSON"},
	{name: "recompile_reasons", do: (*Compile).again},
	{name: "dynamo_error", do: (*Compile).failed},
	{name: "aot_forward_graph_fw_metadata", text: "Inputs and outputs, as AOTAutograd sees them"},
	{name: "runtime_wrapper_orchestration", text: "What runs around the graph"},
	{name: "compiled_fn_wrapper", text: "Code around the graphs"},
	{name: "compiled_function_forward", text: "Code around the forward graph"},
	{name: "compiled_function_backward", text: "Code around the backward graph"},
	{name: "backward_prologue", text: "Code before the backward graph"},
	{name: "backward_epilogue", text: "Code after the backward graph"},
	{name: "torch._functorch.config", text: "Settings of functorch"},
	{name: "inductor_provenance_tracking_node_mappings", text: "Which nodes became which kernels"},
	{name: "inductor_provenance_tracking_kernel_stack_traces", text: "Where kernels come from"},
	{name: "fx_graph_cache_hit", do: (*Compile).cache},
	{name: "fx_graph_cache_miss", do: (*Compile).cache},
	{name: "fx_graph_cache_bypass", do: (*Compile).cache},
	{name: "aotautograd_cache_hit", do: (*Compile).cache},
	{name: "aotautograd_cache_miss", do: (*Compile).cache},
	{name: "aotautograd_cache_bypass", do: (*Compile).cache},
	{name: "create_symbol", do: (*Compile).symbol},
	{name: "create_unbacked_symbol", do: (*Compile).symbol},
	{name: "symbolic_shape_specialization", do: (*Compile).symbol},
	{name: "guard_added", do: (*Compile).symbol},
	{name: "guard_added_fast", do: (*Compile).symbol},
	{name: "propagate_real_tensors_provenance", do: (*Compile).symbol},
	{name: "chromium_event", do: (*Compile).event},
	{name: "compilation_metrics", do: (*Compile).metrics},
	{name: "bwd_compilation_metrics", do: (*Compile).metrics},
	{name: "aot_autograd_backward_compilation_metrics", do: (*Compile).metrics},
	{name: "artifact", do: (*Compile).artifact},
	// What they say is in the types of the graphs.
	{name: "describe_storage"}, {name: "describe_tensor"}, {name: "describe_source"},
	{name: "stack"}, {name: "torch_version"},
}

// reBytecode is the part of an artifact's name that says what it is of a function.
var reBytecode = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(.*)_(ORIGINAL|MODIFIED)_BYTECODE$`) })

func rowOf(r *Record) *kind {
	name := r.Kind
	if name == "artifact" && r.Name != "" {
		name = r.Name
	}
	for i := range kinds {
		if kinds[i].name == name {
			return &kinds[i]
		}
	}
	if r.Kind == "artifact" {
		return rowOf(&Record{Kind: "artifact"})
	}
	return nil
}

// Read reads traces, each a file of one process, and says what they tell together. An error is of reading a file; a file with nothing in it that can be read is none.
func Read(files []string) (*Trace, error) {
	t := &Trace{Shared: map[string]string{}}
	for i, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		t.Files = append(t.Files, filepath.Base(name))
		t.Bytes += int64(len(text))
		t.add(i, text)
	}
	t.finish()
	return t, nil
}

// parse makes a trace of one text.
func parse(text []byte) *Trace {
	t := &Trace{Shared: map[string]string{}, Files: []string{"trace"}, Bytes: int64(len(text))}
	t.add(0, text)
	t.finish()
	return t
}

// add sorts the records of a file by compilation. After torch._dynamo.reset the numbers begin anew: a start with a number that has ended is another compilation.
func (t *Trace) add(log int, text []byte) {
	records, problems := Records(text)
	for _, p := range problems {
		p.File = t.Files[log]
		t.Problems = append(t.Problems, p)
	}
	now := map[string]*Compile{}
	ended := map[*Compile]bool{}
	counts, unknown := map[string]int{}, map[string]int{}
	for _, c := range t.Kinds {
		counts[c.Name] = c.N
	}
	for _, c := range t.Unknown {
		unknown[c.Name] = c.N
	}
	var loose Compile
	for _, r := range records {
		name := r.Kind
		if name == "artifact" {
			name = "artifact " + reBytecode().ReplaceAllString(r.Name, "FUNCTION_${2}_BYTECODE")
		}
		if name == "" {
			name = "(none)"
		}
		counts[name]++
		row := rowOf(r)
		if row == nil || row.name == "artifact" && reBytecode().FindString(r.Name) == "" {
			unknown[name]++
		}
		if t.root == "" {
			t.root = rootOf(r.Stack)
		}
		if r.Name == "torch_version" {
			var v struct {
				Version string `json:"pytorch_version"`
			}
			if json.Unmarshal([]byte(r.Payload()), &v) == nil {
				t.Version = v.Version
			}
		}
		if r.Frame < 0 {
			switch {
			case r.Kind == "chromium_event":
				loose.event(r)
			case r.Name != "torch_version":
				loose.other(r)
			}
			continue
		}
		id := fmt.Sprintf("%d/%d", r.Frame, r.Compile)
		if r.Autograd >= 0 {
			id = fmt.Sprintf("!%d/%s", r.Autograd, id)
		}
		c := now[id]
		if c == nil || ended[c] && r.Attempt == 0 && (r.Kind == "dynamo_start" || r.Name == "recompile_reasons" || opens(r)) {
			c = &Compile{Number: len(t.Compiles), ID: id, Log: log, Before: -1, texts: map[string]int{}}
			now[id] = c
			t.Compiles = append(t.Compiles, c)
		}
		c.records = append(c.records, r)
		if r.Kind == "compilation_metrics" {
			ended[c] = true
		}
	}
	t.Spans = append(t.Spans, nest(loose.events)...)
	for _, x := range loose.Others {
		t.Loose = append(t.Loose, Loose{x.Title, loose.Texts[x.Text]})
	}
	t.Kinds, t.Unknown = counted(counts), counted(unknown)
}

// opens says that an event begins the compilation of a frame.
func opens(r *Record) bool {
	return r.Kind == "chromium_event" && strings.Contains(string(r.indented[:min(len(r.indented), 200)]), `"dynamo"`) && strings.Contains(string(r.indented), `"ph": "B"`)
}

func counted(m map[string]int) []Count {
	var out []Count
	for _, name := range slices.Sorted(maps.Keys(m)) {
		out = append(out, Count{name, m[name]})
	}
	slices.SortStableFunc(out, func(a, b Count) int { return b.N - a.N })
	return out
}

// rootOf is where the torch package is, by a stack that goes through it.
func rootOf(stack []Call) string {
	for _, c := range stack {
		if i := strings.Index(c.File, "/torch/_dynamo/"); i >= 0 {
			return c.File[:i+len("/torch/")]
		}
	}
	return ""
}

// finish reads the records of every compilation, and what they say of each other.
func (t *Trace) finish() {
	p := pool.New().WithMaxGoroutines(runtime.GOMAXPROCS(0))
	for _, c := range t.Compiles {
		p.Go(func() { c.read(t.root) })
	}
	p.Wait()
	t.relate()
	t.share()
}

// read takes in the records of one compilation.
func (c *Compile) read(root string) {
	titles := map[string]int{}
	for _, r := range c.records {
		c.Attempts = max(c.Attempts, r.Attempt+1)
		row := rowOf(r)
		switch {
		case row == nil:
			c.other(r)
		case row.graph != "":
			text := r.Payload()
			g := readGraph(text, c.where)
			titles[row.graph]++
			g.Title, g.Kind, g.Attempt, g.Text = row.graph, row.name, r.Attempt, c.text(text)
			switch n := titles[row.graph]; {
			case n == 2 && row.name == "inductor_post_grad_graph" && slices.ContainsFunc(c.Graphs, func(g *Graph) bool { return g.Kind == "aot_backward_graph" }):
				g.Title += ", backward"
			case n > 1:
				g.Title = fmt.Sprintf("%s %d", row.graph, n)
			}
			c.Graphs = append(c.Graphs, g)
		case row.text != "":
			c.Others = append(c.Others, &Text{Title: row.text, Text: c.text(r.Payload())})
		case row.do != nil:
			row.do(c, r)
		}
		if r.Kind == "dynamo_start" && len(r.Stack) > 0 {
			last := r.Stack[len(r.Stack)-1]
			c.Name, c.File, c.Line = last.Name, last.File, last.Line
			c.Stack = c.Stack[:0]
			for _, s := range r.Stack[:len(r.Stack)-1] {
				if root == "" || !strings.HasPrefix(s.File, root) {
					c.Stack = append(c.Stack, s)
				}
			}
		}
	}
	c.records = nil
	c.Spans = nest(c.events)
	if len(c.events) > 0 {
		c.Began = c.events[0].ts
		for _, s := range c.Spans {
			c.Began = min(c.Began, s.At)
		}
		if c.Took == 0 {
			for _, s := range c.Spans {
				c.Took = max(c.Took, s.At+s.For-c.Began)
			}
		}
	}
	c.events = nil
	var forward *Graph
	for _, g := range c.Graphs {
		switch {
		case g.Kind == "aot_forward_graph":
			forward = g
		case g.Kind == "aot_backward_graph" && forward != nil:
			save(forward, g)
		}
	}
	for i := range c.Codes {
		c.link(&c.Codes[i])
	}
	c.source()
	if c.Name == "" {
		c.Name = "(a frame whose start is not in the trace)"
	}
	c.Called = called(c.Name)
}

// text gives a text a place, the same for the same text.
func (c *Compile) text(s string) int {
	if c.texts == nil {
		c.texts = map[string]int{}
	}
	i, ok := c.texts[s]
	if !ok {
		i = len(c.Texts)
		c.texts[s] = i
		c.Texts = append(c.Texts, s)
	}
	return i
}

// other keeps a record that has no place of its own.
func (c *Compile) other(r *Record) {
	title, body := r.Kind, r.Payload()
	if r.Name != "" {
		title = r.Name
	}
	if meta := string(r.Meta); r.Kind != "artifact" && meta != "" && meta != "{}" {
		body = meta + "\n" + body
	}
	c.Others = append(c.Others, &Text{Title: title, Text: c.text(body)})
}

func (c *Compile) artifact(r *Record) {
	if m := reBytecode().FindStringSubmatch(r.Name); m != nil {
		c.Others = append(c.Others, &Text{Title: map[string]string{"ORIGINAL": "Bytecode of the function", "MODIFIED": "Bytecode that replaces it"}[m[2]], Text: c.text(r.Payload())})
		return
	}
	c.other(r)
}

// relate says which compilation came after which one of its frame, and what failed.
func (t *Trace) relate() {
	last := map[string]*Compile{}
	byID := map[string]*Compile{}
	for _, c := range t.Compiles {
		frame, _, _ := strings.Cut(c.ID, "/")
		if strings.HasPrefix(c.ID, "!") {
			frame = c.ID[:strings.LastIndexByte(c.ID, '/')]
		}
		key := fmt.Sprint(c.Log, " ", frame)
		for i := range c.Why {
			w := &c.Why[i]
			w.Number = -1
			if of := byID[fmt.Sprint(c.Log, " ", w.Of)]; of != nil {
				w.Number = of.Number
				of.Failed++
				of.blame(w.Source, w.Why)
			}
		}
		if before := last[key]; before != nil && !strings.HasSuffix(c.ID, "/0") {
			c.Before = before.Number
			c.Differ = differ(before.tree, c.tree)
		}
		last[key], byID[fmt.Sprint(c.Log, " ", c.ID)] = c, c
		c.status()
	}
}

func (c *Compile) status() {
	switch {
	case c.Error != "":
		c.Status = Error
	case len(c.Breaks) > 0:
		c.Status = Broken
	case c.Before >= 0 || len(c.Why) > 0:
		c.Status = Again
	case len(c.Graphs) > 0 && len(c.Figures) == 0 && len(c.Guards) == 0:
		c.Status = Open
	case len(c.Graphs) == 0:
		c.Status = Empty
	default:
		c.Status = Whole
	}
}

// share takes long figures that are the same in many compilations out of them.
func (t *Trace) share() {
	keys := map[string]string{}
	for _, c := range t.Compiles {
		for i := range c.Figures {
			f := &c.Figures[i]
			if len(f.Value) < 500 {
				continue
			}
			key, ok := keys[f.Value]
			if !ok {
				key = fmt.Sprintf("shared-%d", len(keys))
				keys[f.Value], t.Shared[key] = key, f.Value
			}
			f.Value, f.Key = "", key
		}
	}
}
