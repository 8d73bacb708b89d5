package trace

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// A Graph is a graph as a record prints it, and what can be read off the text.
type Graph struct {
	Title   string `json:"title"`
	Kind    string `json:"kind"`
	Attempt int    `json:"attempt"`
	Text    int    `json:"text"`  // place in the compilation's texts
	Nodes   []Node `json:"nodes"` // of the outermost module
	Ops     int    `json:"ops"`   // how many of them compute something
	Saved   []Save `json:"saved,omitempty"`
	Bytes   int64  `json:"bytes,omitempty"` // of what is saved, as far as it is known

	outputs []string
}

// A Node is a line of a graph.
type Node struct {
	Name string `json:"n"`
	Type string `json:"t,omitempty"`
	Op   string `json:"o"` // placeholder, output, or what is called
	In   []int  `json:"i,omitempty"`
	Line int    `json:"k"`           // in the text, from 1
	File int    `json:"f,omitempty"` // of the source that made it: place in the compilation's files, from 1; 0 is not known
	At   int    `json:"l,omitempty"` // its line there
}

// A Save is what the forward graph keeps for the backward graph.
type Save struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Bytes int64  `json:"bytes"` // -1: a size of it is a symbol
	Input bool   `json:"input"` // it is an input of the forward graph, and costs nothing
}

// origin is a comment that says which line the nodes below it come from.
type origin struct {
	file string
	line int
	code string
}

var (
	reOrigin = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^# File: (.*):(\d+) in (.*?), code: (.*)$`) })
	reNode   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([A-Za-z_]\w*)(?:: ?"([^"]*)")? = (.*)$`) })
	reInput  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`([A-Za-z_]\w*): ?"([^"]*)"`) })
	reName   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[A-Za-z_]\w*`) })
	reCalled = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([A-Za-z_][\w.]*)\(`) })
	reMethod = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_]\w*\.([A-Za-z_]\w*)\(`) })
)

// readGraph reads the text of a module: its inputs, what it computes, and from which lines. Modules within it are not looked into. What cannot be read is left out.
func readGraph(text string, where func(origin) int) *Graph {
	g := &Graph{Nodes: []Node{}}
	at := map[string]int{}
	file, line := 0, 0
	depth := -1 // of the statements of forward, in spaces
	signature := false
	add := func(n Node) {
		n.File, n.At = file, line
		if _, ok := at[n.Name]; ok { // a name that is bound again is another value
			n.Name += "'"
		}
		at[n.Name] = len(g.Nodes)
		g.Nodes = append(g.Nodes, n)
	}
	inputs := func(number int, text string) {
		for _, m := range reInput().FindAllStringSubmatch(text, -1) {
			if _, ok := at[m[1]]; !ok {
				add(Node{Name: m[1], Type: m[2], Op: "placeholder", Line: number})
			}
		}
	}
	modules := 0
	for number, rest := 1, text; rest != ""; number++ {
		var l string
		l, rest, _ = strings.Cut(rest, "\n")
		body := strings.TrimLeft(l, " ")
		indent := len(l) - len(body)
		switch {
		case strings.HasPrefix(body, "class "):
			if modules++; modules > 1 {
				return g
			}
		case strings.HasPrefix(body, "def forward("):
			depth = indent + 4
			inputs(number, body)
			signature = !strings.HasSuffix(strings.TrimRight(body, " "), "):")
		case signature:
			inputs(number, body)
			signature = !strings.HasPrefix(body, "):") && !strings.HasSuffix(body, "):")
		case strings.HasPrefix(body, "# File: "):
			if m := reOrigin().FindStringSubmatch(body); m != nil {
				n, _ := strconv.Atoi(m[2]) // digits, and few of them: else it is line 0
				file, line = where(origin{m[1], n, m[4]}), n
			}
		case strings.HasPrefix(body, "# No stacktrace"):
			file, line = 0, 0
		case strings.HasPrefix(body, "return "), body == "return (":
			file, line = 0, 0
			n := Node{Name: "output", Op: "output", Line: number}
			for more := body; ; {
				code, _, _ := strings.Cut(more, "  #")
				for _, name := range reName().FindAllString(strings.TrimPrefix(code, "return"), -1) {
					if i, ok := at[name]; ok {
						g.outputs = append(g.outputs, name)
						n.In = appendOnce(n.In, i)
					}
				}
				if body != "return (" || strings.HasPrefix(strings.TrimSpace(more), ")") || rest == "" {
					break
				}
				more, rest, _ = strings.Cut(rest, "\n")
				number++
			}
			add(n)
		case depth >= 0 && indent == depth && strings.Contains(body, `: "`) && !strings.Contains(body, " = "): // the inputs of a joint graph
			inputs(number, body)
		case depth >= 0 && indent >= depth:
			m := reNode().FindStringSubmatch(body)
			if m == nil {
				continue
			}
			expr, _, _ := strings.Cut(m[3], ";  ")
			if expr == m[1] || "L_"+strings.TrimPrefix(m[1], "l_") == expr || (reName().FindString(expr) == expr && indexOf(at, expr) >= 0) { // another name for an input
				if i, ok := at[expr]; ok {
					at[m[1]] = i
					continue
				}
			}
			n := Node{Name: m[1], Type: m[2], Op: operation(expr), Line: number}
			for _, name := range valuesIn(unquote(expr)) {
				if i, ok := at[name]; ok {
					n.In = appendOnce(n.In, i)
				}
			}
			g.Ops++
			add(n)
		}
	}
	return g
}

func indexOf(m map[string]int, key string) int {
	if i, ok := m[key]; ok {
		return i
	}
	return -1
}

func appendOnce(list []int, v int) []int {
	for _, have := range list {
		if have == v {
			return list
		}
	}
	return append(list, v)
}

// valuesIn are the names in an expression that stand for values: not those of attributes, nor of keywords.
func valuesIn(expr string) []string {
	var out []string
	for _, at := range reName().FindAllStringIndex(expr, -1) {
		if at[0] > 0 && expr[at[0]-1] == '.' || strings.HasPrefix(expr[at[1]:], " = ") || strings.HasPrefix(expr[at[1]:], "(") {
			continue
		}
		out = append(out, expr[at[0]:at[1]])
	}
	return out
}

// unquote takes the texts out of an expression: no name in them is a node's.
func unquote(expr string) string {
	if !strings.ContainsAny(expr, `'"`) {
		return expr
	}
	var b strings.Builder
	quote := byte(0)
	for i := 0; i < len(expr); i++ {
		switch c := expr[i]; {
		case quote != 0 && c == '\\':
			i++
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
			b.WriteByte(' ')
		case quote == 0:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// operation is what an expression calls, for people.
func operation(expr string) string {
	called := ""
	if m := reCalled().FindStringSubmatch(expr); m != nil {
		called = m[1]
	}
	switch {
	case strings.HasPrefix(called, "torch.ops."):
		return strings.TrimPrefix(called, "torch.ops.")
	case strings.HasPrefix(called, "torch."), called != "" && !strings.Contains(called, "."):
		return called
	}
	if m := reMethod().FindStringSubmatch(expr); m != nil && called != "" && !strings.HasPrefix(called, "self.") && !strings.HasPrefix(called, "operator.") {
		return "." + m[1]
	}
	if called != "" {
		return called
	}
	for _, op := range []string{" + ", " - ", " * ", " / ", " // ", " @ ", " % ", " ** ", " > ", " < ", " >= ", " <= ", " == ", " != ", " & ", " | ", " ^ "} {
		if strings.Contains(expr, op) {
			return strings.TrimSpace(op)
		}
	}
	if strings.HasPrefix(expr, "self.") {
		return "get_attr"
	}
	if strings.Contains(expr, "[") {
		return "getitem"
	}
	if len(expr) > 30 {
		return expr[:strings.LastIndexByte(expr[:30], ' ')+1] + "…"
	}
	return expr
}

// bits of an element, by the short name that graphs give a dtype.
var bits = map[string]int64{"f64": 64, "f32": 32, "f16": 16, "bf16": 16, "i64": 64, "i32": 32, "i16": 16, "i8": 8, "u8": 8, "u16": 16, "u32": 32, "u64": 64, "b8": 8, "c32": 32, "c64": 64, "c128": 128,
	"f8e4m3fn": 8, "f8e5m2": 8, "f8e4m3fnuz": 8, "f8e5m2fnuz": 8}

// sizeOf is how many bytes a value of a type such as f32[4, 16][16, 1]cpu has; -1 where that is not known.
func sizeOf(typ string) int64 {
	dtype, rest, ok := strings.Cut(typ, "[")
	width, known := bits[dtype]
	if !ok || !known {
		return -1
	}
	sizes, _, _ := strings.Cut(rest, "]")
	n := width / 8
	for _, s := range strings.Split(sizes, ",") {
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		v, err := strconv.ParseInt(s, 10, 64)
		if err != nil || v < 0 || (v > 0 && n > (1<<62)/v) {
			return -1
		}
		n *= v
	}
	return n
}

// save says what the forward graph keeps for the backward one: its outputs that are inputs there.
func save(forward, backward *Graph) {
	wanted := map[string]string{}
	for _, n := range backward.Nodes {
		if n.Op == "placeholder" && !strings.HasPrefix(n.Name, "tangents_") {
			wanted[n.Name] = n.Type
		}
	}
	of := map[string]Node{}
	for _, n := range forward.Nodes {
		of[n.Name] = n
	}
	seen := map[string]bool{}
	forward.Bytes = 0
	forward.Saved = nil
	for _, name := range forward.outputs {
		if typ, ok := wanted[name]; ok && !seen[name] {
			seen[name] = true
			s := Save{name, typ, sizeOf(typ), of[name].Op == "placeholder"}
			forward.Saved = append(forward.Saved, s)
			if !s.Input && s.Bytes > 0 {
				forward.Bytes += s.Bytes
			}
		}
	}
}
