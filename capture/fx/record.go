package fx

import (
	"math"
	"strconv"

	"whittle/capture/python/literal"
	"whittle/kernels/tensor"
)

// Recorded is a graph in the JSON form of conformance records: each node is
// [op, target, args, kwargs, value] or, for placeholders with a source, [..., source].
type Recorded struct {
	Ops       int                  `json:"ops"` // call nodes
	Nodes     [][]any              `json:"nodes"`
	Subgraphs map[string]*Recorded `json:"subgraphs"`
}

// MetaSource is the Meta key under which a placeholder carries its guard source, a string.
const MetaSource = "source"

// MetaUndescribed is the Meta key of a placeholder whose value is not to be described where the graph is shown.
const MetaUndescribed = "undescribed"

// Record encodes a graph for json.Marshal.
func Record(gm *GraphModule) *Recorded {
	r := &Recorded{Nodes: [][]any{}, Subgraphs: map[string]*Recorded{}}
	index := map[*Node]int{}
	for i, n := range gm.Graph.Nodes {
		index[n] = i
		if n.IsCall() {
			r.Ops++
		}
		kwargs := map[string]any{}
		for _, kw := range n.Kwargs {
			kwargs[kw.Name] = recordArg(kw.Val, index)
		}
		row := []any{string(n.Op), n.Target, recordArgs(n.Args, index), kwargs, recordVal(n.Val)}
		if src, ok := n.Meta[MetaSource].(string); ok && n.Op == Placeholder {
			row = append(row, src)
		}
		r.Nodes = append(r.Nodes, row)
	}
	for name, sub := range gm.Submodules {
		r.Subgraphs[name] = Record(sub)
	}
	return r
}

// recordArgs is recordArg for each of a list.
func recordArgs(as []Arg, index map[*Node]int) []any {
	out := make([]any, len(as))
	for i, a := range as {
		out[i] = recordArg(a, index)
	}
	return out
}

// recordArg is an argument as JSON. A node is % and its number; what JSON has no form for is a string that begins with its kind, or an object
// that names it.
func recordArg(a Arg, index map[*Node]int) any {
	switch a := a.(type) {
	case *Node:
		return "%" + strconv.Itoa(index[a])
	case string:
		return "str:" + a
	case float64:
		if math.IsInf(a, 0) || math.IsNaN(a) {
			return "float:" + literal.Float(a)
		}
		return jsonFloat(a)
	case List:
		return recordArgs(a, index)
	case Tuple:
		return map[string]any{"tuple": recordArgs(a, index)}
	case Dict:
		items := make([]any, len(a))
		for i, it := range a {
			items[i] = []any{recordArg(it.Key, index), recordArg(it.Val, index)}
		}
		return map[string]any{"dict": items}
	case Slice:
		return map[string]any{"slice": recordArgs([]Arg{a.Start, a.Stop, a.Step}, index)}
	case Range:
		return map[string]any{"range": []any{a.Start, a.Stop, a.Step}}
	case Ellipsis:
		return "..."
	case tensor.Device:
		s := "device:" + a.Type
		if a.Index >= 0 {
			s += ":" + strconv.Itoa(a.Index)
		}
		return s
	case tensor.DType, tensor.Layout, tensor.MemoryFormat:
		return FormatArg(a)
	case SymInt:
		return "sym:" + a.Expr
	case FnRef:
		return "fn:" + string(a)
	case complex128:
		return FormatArg(a)
	}
	return a
}

// jsonFloat keeps the point of 1.0, so that floats and ints stay apart.
type jsonFloat float64

// MarshalJSON writes Python's repr.
func (f jsonFloat) MarshalJSON() ([]byte, error) { return []byte(literal.Float(float64(f))), nil }

// recordVal is what is known of a value: dtype and shape of a tensor, and numbers. Elements are never recorded.
func recordVal(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = recordVal(x)
		}
		return out
	case *tensor.Tensor:
		if v == nil {
			return nil
		}
		return v.DType.Short() + dims(v.Shape)
	case SymInt, int64:
		return ValString(v)
	}
	return nil
}
