package repros

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	sitter "github.com/smacker/go-tree-sitter"

	"whittle/capture/fx"
	"whittle/capture/symbolic"
	"whittle/kernels/tensor"
)

// loadArgs reads the statements of load_args(reader).
func (d *reader) loadArgs(fn *sitter.Node) error {
	d.sawArgs = true
	body := fn.ChildByFieldName("body")
	if body == nil {
		return d.notUnderstood(fn)
	}
	lines := strings.Split(string(d.Text), "\n")
	for i := 0; i < int(body.NamedChildCount()); i++ {
		st := body.NamedChild(i)
		switch st.Type() {
		case "comment":
			if strings.Contains(d.Content(st), "unsupported type for dumping") {
				return d.notUnderstood(st)
			}
			continue
		case "pass_statement":
			continue
		case "expression_statement":
		default:
			return d.notUnderstood(st)
		}
		// The comment behind a statement may lie outside of the body for the parser, so it is read from the line.
		note := ""
		if p := st.EndPoint(); int(p.Row) < len(lines) && int(p.Column) <= len(lines[p.Row]) {
			_, note, _ = strings.Cut(lines[p.Row][p.Column:], "#")
			note = strings.TrimSpace(note)
		}
		e := st.NamedChild(0)
		buf := ""
		if e.Type() == "assignment" && e.ChildByFieldName("right") != nil {
			buf, e = d.Content(e.ChildByFieldName("left")), e.ChildByFieldName("right")
			if fn := e.ChildByFieldName("function"); e.Type() == "call" && (fn == nil || !strings.HasPrefix(d.Content(fn), "reader.")) {
				if err := d.storageExpr(e, buf, note); err != nil {
					return err
				}
				continue
			}
		}
		if e.Type() != "call" {
			return d.notUnderstood(st)
		}
		name, _, _ := strings.Cut(note, ", filtered out")
		if err := d.readerCall(st, e, buf, name); err != nil {
			return err
		}
	}
	return nil
}

var symbolName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[su]\d+$`) })

func (d *reader) noteInt(in Input) {
	if v, ok := in.Value.(int64); ok && symbolName().MatchString(in.Name) {
		d.named[in.Name] = v
	}
}

var (
	bufName   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_]\w*$`) })
	bytesNote = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\d+) bytes?$`) })
)

// storageExpr reads buf0 = torch.zeros(6).untyped_storage()  # 24 bytes.
func (d *reader) storageExpr(e *sitter.Node, buf, note string) error {
	text := d.Content(e)
	if !bufName().MatchString(buf) || !strings.HasSuffix(text, ".untyped_storage()") {
		return d.notUnderstood(e)
	}
	s := Storage{Expr: text, Device: "cpu", DTypeHint: "float32"}
	if m := bytesNote().FindStringSubmatch(note); m != nil {
		n, err := strconv.ParseInt(m[1], 10, 64)
		if err != nil {
			return d.notUnderstood(e)
		}
		s.NBytes = n
	} else if t := fx.ConstValue(strings.TrimSuffix(text, ".untyped_storage()")); t != nil {
		s.NBytes = t.Storage.NBytes
	} else {
		return d.Errorf(e, "how many bytes %s has is not known: a comment `# N bytes` says it", text)
	}
	d.bufs[buf] = len(d.r.Storages)
	d.r.Storages = append(d.r.Storages, s)
	return nil
}

func (d *reader) readerCall(st, e *sitter.Node, buf, name string) error {
	fn := d.Content(e.ChildByFieldName("function"))
	if fn == "reader.symint" {
		return d.value(st, e.ChildByFieldName("arguments"), name)
	}
	a, err := d.Arg(e, true)
	if err != nil {
		return err
	}
	n, ok := a.(*fx.Node)
	if !ok {
		return d.notUnderstood(st)
	}
	args := n.Args
	if n.Op == fx.CallMethod && len(args) > 0 {
		args = args[1:]
	}
	switch fn {
	case "reader.storage":
		return d.storage(st, args, n.Kwargs, buf)
	case "reader.tensor":
		return d.tensor(st, args, n.Kwargs, name)
	case "reader.const":
		if len(args) == 1 {
			if s, ok := args[0].(string); ok {
				d.r.Inputs = append(d.r.Inputs, Input{Kind: ConstInput, Name: s})
				return nil
			}
		}
	}
	return d.notUnderstood(st)
}

// value reads reader.symint(V): a number, None, or any other expression. PyTorch's readers take the value as it is.
func (d *reader) value(st, args *sitter.Node, name string) error {
	if args.NamedChildCount() != 1 {
		return d.notUnderstood(st)
	}
	in := Input{Kind: ExprInput, Name: name, Expr: d.Content(args.NamedChild(0))}
	a, err := d.Arg(args.NamedChild(0), true)
	if err != nil {
		return err
	}
	switch v := a.(type) {
	case int64, float64:
		in = Input{Kind: SymIntInput, Name: name, Value: v}
		d.noteInt(in)
	case nil:
		in = Input{Kind: ConstInput, Name: name}
	case *fx.Node:
		if t := fx.ConstValue(in.Expr); t != nil {
			in.Shape, in.DType = t.Shape, t.DType.String()
		}
	default:
		return d.notUnderstood(st)
	}
	d.r.Inputs = append(d.r.Inputs, in)
	return nil
}

// size takes a size that may be symbolic; put gets its value at the end.
func (d *reader) size(st *sitter.Node, a fx.Arg, put func(int64)) error {
	switch v := a.(type) {
	case int64:
		put(v)
		return nil
	case fx.SymInt:
		d.symbolic(st, v.Expr, put)
		return nil
	case *fx.Node: // Max(1, s0)
		if v.Op == fx.CallFunction {
			d.symbolic(st, nodeText(v), put)
			return nil
		}
	}
	return d.Errorf(st, "size %s is not understood", fx.FormatArg(a))
}

func (d *reader) symbolic(st *sitter.Node, expr string, put func(int64)) {
	for _, s := range slices.Sorted(slices.Values(symbolic.SymbolsIn(expr))) {
		if !slices.Contains(d.used, s) {
			d.used = append(d.used, s)
		}
	}
	d.pending = append(d.pending, func() error {
		v, err := symbolic.EvalInt(expr, d.named)
		if err != nil {
			return d.Errorf(st, "%v", err)
		}
		put(v)
		return nil
	})
}

// nodeText turns arithmetic that was read as nodes back into text.
func nodeText(n *fx.Node) string {
	var parts []string
	for _, a := range n.Args {
		if in, ok := a.(*fx.Node); ok {
			parts = append(parts, nodeText(in))
		} else {
			parts = append(parts, fx.FormatArg(a))
		}
	}
	ops := map[string]string{"operator.add": "+", "operator.sub": "-", "operator.mul": "*", "operator.floordiv": "//", "operator.pow": "**", "operator.mod": "%", "operator.truediv": "/"}
	if op, ok := ops[n.Target]; ok && len(parts) == 2 {
		return "(" + parts[0] + op + parts[1] + ")"
	}
	return n.Target + "(" + strings.Join(parts, ", ") + ")"
}

func dtypeName(a fx.Arg) (string, bool) {
	switch v := a.(type) {
	case tensor.DType:
		return v.String(), true
	case fx.FnRef:
		if s, ok := strings.CutPrefix(string(v), "torch."); ok && !strings.Contains(s, ".") {
			return s, true
		}
	}
	return "", false
}

func (d *reader) storage(st *sitter.Node, args []fx.Arg, kwargs []fx.Kwarg, buf string) error {
	if len(args) != 2 || buf == "" {
		return d.notUnderstood(st)
	}
	s := Storage{Device: "cpu", DTypeHint: "float32"}
	switch h := args[0].(type) {
	case nil:
	case string:
		s.Hash = h
	default:
		return d.notUnderstood(st)
	}
	for _, kw := range kwargs {
		switch kw.Name {
		case "device":
			v, ok := kw.Val.(tensor.Device)
			if !ok {
				return d.notUnderstood(st)
			}
			s.Device = v.Type
			if v.Index >= 0 {
				s.Device = fmt.Sprintf("%s:%d", v.Type, v.Index)
			}
		case "dtype_hint":
			name, ok := dtypeName(kw.Val)
			if !ok {
				return d.notUnderstood(st)
			}
			s.DTypeHint = name
		default:
			return d.notUnderstood(st)
		}
	}
	k := len(d.r.Storages)
	d.r.Storages = append(d.r.Storages, s)
	d.bufs[buf] = k
	return d.size(st, args[1], func(v int64) { d.r.Storages[k].NBytes = v })
}

func (d *reader) tensor(st *sitter.Node, args []fx.Arg, kwargs []fx.Kwarg, name string) error {
	if len(args) < 2 || len(args) > 3 {
		return d.notUnderstood(st)
	}
	ref, ok := args[0].(fx.FnRef)
	k, known := d.bufs[string(ref)]
	if !ok || !known {
		return d.Errorf(st, "storage %s is not defined", fx.FormatArg(args[0]))
	}
	i := len(d.r.Inputs)
	d.r.Inputs = append(d.r.Inputs, Input{Kind: TensorInput, Name: name, Storage: k, DType: "float32"})
	in := &d.r.Inputs[i]
	list := func(a fx.Arg, put func(j int, v int64)) (int, error) {
		var items []fx.Arg
		switch a := a.(type) {
		case fx.Tuple:
			items = a
		case fx.List:
			items = a
		default:
			return 0, d.notUnderstood(st)
		}
		for j, it := range items {
			if err := d.size(st, it, func(v int64) { put(j, v) }); err != nil {
				return 0, err
			}
		}
		return len(items), nil
	}
	count := func(a fx.Arg) int {
		switch a := a.(type) {
		case fx.Tuple:
			return len(a)
		case fx.List:
			return len(a)
		}
		return 0
	}
	in.Shape = make([]int64, count(args[1]))
	shape := in.Shape
	if _, err := list(args[1], func(j int, v int64) { shape[j] = v }); err != nil {
		return err
	}
	stride := fx.Arg(nil)
	if len(args) == 3 {
		stride = args[2]
	}
	for _, kw := range kwargs {
		switch kw.Name {
		case "stride":
			stride = kw.Val
		case "storage_offset":
			if err := d.size(st, kw.Val, func(v int64) { d.r.Inputs[i].Offset = v }); err != nil {
				return err
			}
		case "dtype":
			dt, ok := dtypeName(kw.Val)
			if !ok {
				return d.notUnderstood(st)
			}
			in.DType = dt
		case "requires_grad", "is_leaf":
			v, ok := kw.Val.(bool)
			if !ok {
				return d.notUnderstood(st)
			}
			if kw.Name == "is_leaf" {
				in.Leaf = v
			} else {
				in.RequiresGrad = v
			}
		default:
			in.Meta = append(in.Meta, Setting{kw.Name, fx.FormatArg(kw.Val)})
		}
	}
	if stride != nil {
		s := make([]int64, count(stride))
		if len(s) != len(shape) {
			return d.Errorf(st, "%d sizes and %d strides", len(shape), len(s))
		}
		if _, err := list(stride, func(j int, v int64) { s[j] = v }); err != nil {
			return err
		}
		d.pending = append(d.pending, func() error {
			d.r.Inputs[i].Stride = nil
			if !slices.Equal(s, tensor.ContiguousStrides(shape)) { // known once symbols have values
				d.r.Inputs[i].Stride = slices.Clone(s)
			}
			return nil
		})
	}
	return nil
}

// argsList reads the older form: args = [((200, 200), (200, 1), torch.float32, 'cpu', False)].
func (d *reader) argsList(n *sitter.Node) error {
	d.sawArgs = true
	a, err := d.Arg(n, false)
	if err != nil {
		return err
	}
	l, ok := a.(fx.List)
	if !ok {
		return d.notUnderstood(n)
	}
	for _, it := range l {
		t, ok := it.(fx.Tuple)
		if !ok || len(t) < 4 || len(t) > 5 {
			return d.Errorf(n, "argument %s is not understood", fx.FormatArg(it))
		}
		shape, ok1 := ints(t[0])
		stride, ok2 := ints(t[1])
		dt, ok3 := dtypeName(t[2])
		dev, ok4 := t[3].(string)
		if v, isDev := t[3].(tensor.Device); isDev {
			dev, ok4 = v.Type, true
		}
		if !ok1 || !ok2 || !ok3 || !ok4 || len(shape) != len(stride) {
			return d.Errorf(n, "argument %s is not understood", fx.FormatArg(it))
		}
		in := Input{Kind: TensorInput, Storage: len(d.r.Storages), Shape: shape, DType: dt, Leaf: true}
		if !slices.Equal(stride, tensor.ContiguousStrides(shape)) {
			in.Stride = stride
		}
		if len(t) == 5 {
			rg, ok := t[4].(bool)
			if !ok {
				return d.Errorf(n, "argument %s is not understood", fx.FormatArg(it))
			}
			in.RequiresGrad = rg
		}
		size := int64(4)
		if p, ok := tensor.ParseDType(dt); ok {
			size = int64(p.Size())
		}
		elems := int64(1)
		for i, s := range shape {
			if s == 0 {
				elems = 0
				break
			}
			elems += (s - 1) * stride[i]
		}
		d.r.Storages = append(d.r.Storages, Storage{NBytes: elems * size, Device: dev, DTypeHint: dt})
		d.r.Inputs = append(d.r.Inputs, in)
	}
	return nil
}

func ints(a fx.Arg) ([]int64, bool) {
	t, ok := a.(fx.Tuple)
	if !ok {
		return nil, false
	}
	out := make([]int64, len(t))
	for i, x := range t {
		if out[i], ok = x.(int64); !ok {
			return nil, false
		}
	}
	return out, true
}

// annotation is a type as print_readable prints it: "f32[2, 3]", "f32[s0, 3][3, 1]cpu", "Sym(s0)".
var annotation = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^["'](?:Sym\((.*)\)|(\w+)\[([^\]]*)\](?:\[([^\]]*)\])?(\w+(?::\d+)?)?)["']$`)
})

// unknownSize is what a symbolic size counts as where the text does not tell.
const unknownSize = 8

// annotated makes random inputs from the types of forward's parameters, as print_readable shows them. It reports
// whether every parameter has one.
func (d *reader) annotated() bool {
	if d.r.Module == nil {
		return false
	}
	var storages []Storage
	var inputs []Input
	value := map[string]int64{}
	list := func(text string) ([]int64, bool) {
		for _, s := range symbolic.SymbolsIn(text) {
			value[s] = unknownSize
		}
		out, err := symbolic.EvalInts(text, value)
		return out, err == nil && !slices.ContainsFunc(out, func(n int64) bool { return n < 0 })
	}
	ph := d.r.Module.Graph.Placeholders()
	for _, p := range ph {
		m := annotation().FindStringSubmatch(p.Type)
		if m == nil {
			return false
		}
		if m[1] != "" {
			v, ok := list(m[1])
			if !ok || len(v) != 1 {
				return false
			}
			inputs = append(inputs, Input{Kind: SymIntInput, Name: p.Target, Value: v[0]})
			continue
		}
		dt, ok := tensor.ParseDType(m[2])
		if !ok {
			return false
		}
		shape, ok1 := list(m[3])
		stride, ok2 := list(m[4])
		if !ok1 || !ok2 {
			return false
		}
		in := Input{Kind: TensorInput, Name: p.Target, Storage: len(storages), Shape: shape, DType: dt.String(), Leaf: true}
		if m[4] != "" && len(stride) == len(shape) && !slices.Equal(stride, tensor.ContiguousStrides(shape)) {
			in.Stride = stride
		}
		dev := m[5]
		if dev == "" {
			dev = "cpu"
		}
		storages = append(storages, Storage{NBytes: tensor.EmptyFake(dt, shape, in.AllStrides()).Storage.NBytes, Device: dev, DTypeHint: dt.String()})
		inputs = append(inputs, in)
	}
	d.r.Storages, d.r.Inputs = storages, inputs
	for _, p := range ph {
		p.Type = "" // sizes change later
	}
	if len(value) > 0 {
		d.r.Head = append(d.r.Head, fmt.Sprintf("# the text does not tell the sizes %s: %d stands for each", strings.Join(slices.Sorted(maps.Keys(value)), ", "), unknownSize))
	}
	return true
}
