package fx

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	sitter "github.com/smacker/go-tree-sitter"

	"whittle/kernels/tensor"
)

// number reads an integer of any size, a float, or an imaginary number, with the underscores that Python allows.
func (p *fnParser) number(n *sitter.Node) (Arg, error) {
	t := strings.ReplaceAll(p.Content(n), "_", "")
	if c := t[len(t)-1]; (c == 'j' || c == 'J') && !strings.HasPrefix(t, "0x") {
		f, err := strconv.ParseFloat(t[:len(t)-1], 64)
		if err != nil {
			return nil, p.Errorf(n, "number %s", t)
		}
		return complex(0, f), nil
	}
	if n.Type() == "integer" {
		if i, err := strconv.ParseInt(t, 0, 64); err == nil {
			return i, nil
		}
		if b, ok := new(big.Int).SetString(t, 0); ok {
			return b, nil
		}
		return nil, p.Errorf(n, "number %s", t)
	}
	f, err := strconv.ParseFloat(t, 64)
	if err != nil && !math.IsInf(f, 0) {
		return nil, p.Errorf(n, "number %s", t)
	}
	return f, nil
}

// strArg reads a string in the place of an argument. Bytes and formatted strings are refused: arguments are neither.
func (p *fnParser) strArg(n *sitter.Node) (Arg, error) {
	s, err := p.str(n)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// constant is a dotted name in argument position: a dtype, layout, memory format or function.
func constant(p *fnParser, n *sitter.Node, text string) (Arg, error) {
	if rest, ok := strings.CutPrefix(text, "torch."); ok && !strings.Contains(rest, ".") {
		if d, ok := tensor.ParseDType(text); ok {
			return d, nil
		}
		switch rest {
		case "strided", "sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc", "_mkldnn", "jagged":
			return tensor.Layout(rest), nil
		case "contiguous_format", "preserve_format", "channels_last", "channels_last_3d":
			return tensor.MemoryFormat(rest), nil
		}
	}
	switch text {
	case "math.inf", "torch.inf":
		return math.Inf(1), nil
	case "math.nan", "torch.nan":
		return math.NaN(), nil
	}
	if f, ok := funcName(text); ok {
		return FnRef(f), nil
	}
	return nil, p.Errorf(n, "%s is not understood", p.snippet(n))
}

// callArg is a call in argument position: slices, devices, sizes, or (in hand-written graphs) a node of its own.
func (p *fnParser) callArg(n *sitter.Node) (Arg, error) {
	fn := p.Content(n.ChildByFieldName("function"))
	switch fn {
	case "slice", "range", "device", "torch.device", "torch.Size", "float", "complex":
	default:
		return p.call(n, "")
	}
	args, kwargs, err := p.arguments(n.ChildByFieldName("arguments"))
	if err != nil {
		return nil, err
	}
	bad := func() (Arg, error) { return nil, p.Errorf(n, "%s is not understood", p.snippet(n)) }
	switch fn {
	case "slice":
		switch {
		case len(kwargs) > 0:
			return bad()
		case len(args) == 1:
			return Slice{nil, args[0], nil}, nil
		case len(args) == 2:
			return Slice{args[0], args[1], nil}, nil
		case len(args) == 3:
			return Slice{args[0], args[1], args[2]}, nil
		}
		return bad()
	case "range":
		// Step 0 is an error in Python too.
		r := Range{Step: 1}
		at := [][]*int64{1: {&r.Stop}, 2: {&r.Start, &r.Stop}, 3: {&r.Start, &r.Stop, &r.Step}}
		if len(kwargs) > 0 || len(args) == 0 || len(args) >= len(at) {
			return bad()
		}
		for i, p := range at[len(args)] {
			n, ok := args[i].(int64)
			if !ok {
				return bad()
			}
			*p = n
		}
		if r.Step == 0 {
			return bad()
		}
		return r, nil
	case "torch.Size":
		if len(args) == 1 {
			if l, ok := args[0].(List); ok {
				return Tuple(l), nil
			}
		}
		return bad()
	case "float":
		if len(args) == 1 {
			if s, ok := args[0].(string); ok {
				if f, err := strconv.ParseFloat(s, 64); err == nil {
					return f, nil
				}
			}
			return p.node(CallFunction, "float", args, kwargs, ""), nil
		}
		return bad()
	case "complex":
		if re, ok := part(args, 0); ok && len(args) == 2 {
			if im, ok := part(args, 1); ok {
				return complex(re, im), nil
			}
		}
		if len(args)+len(kwargs) == 0 {
			return bad()
		}
		return p.node(CallFunction, "complex", args, kwargs, ""), nil
	}
	d := tensor.Device{Index: -1}
	for i, a := range args {
		kwargs = append(kwargs, Kwarg{[]string{"type", "index"}[min(i, 1)], a})
	}
	for _, kw := range kwargs {
		switch v := kw.Val.(type) {
		case string:
			typ, idx, has := strings.Cut(v, ":")
			d.Type = typ
			if has {
				k, err := strconv.Atoi(idx)
				if err != nil {
					return bad()
				}
				d.Index = k
			}
		case int64:
			d.Index = int(v)
		default:
			return bad()
		}
	}
	if d.Type == "" {
		return bad()
	}
	return d, nil
}

// str evaluates a string literal.
func (s *Source) str(n *sitter.Node) (string, error) {
	t := s.Content(n)
	raw := false
	for t != "" && t[0] != '\'' && t[0] != '"' {
		switch t[0] {
		case 'r', 'R':
			raw = true
		case 'u', 'U':
		default:
			return "", s.Errorf(n, "string literal %s is not understood", s.snippet(n))
		}
		t = t[1:]
	}
	switch {
	case len(t) >= 6 && (strings.HasPrefix(t, `"""`) || strings.HasPrefix(t, "'''")):
		t = t[3 : len(t)-3]
	case len(t) >= 2:
		t = t[1 : len(t)-1]
	default:
		return "", s.Errorf(n, "string literal %s is not understood", s.snippet(n))
	}
	if raw || !strings.Contains(t, `\`) {
		return t, nil
	}
	var b strings.Builder
	for i := 0; i < len(t); i++ {
		if t[i] != '\\' || i+1 == len(t) {
			b.WriteByte(t[i])
			continue
		}
		i++
		width := 0
		switch c := t[i]; c {
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case 'r':
			b.WriteByte('\r')
		case 'a':
			b.WriteByte(7)
		case 'b':
			b.WriteByte(8)
		case 'f':
			b.WriteByte(12)
		case 'v':
			b.WriteByte(11)
		case '\\', '\'', '"':
			b.WriteByte(c)
		case '\n':
		case 'x':
			width = 2
		case 'u':
			width = 4
		case 'U':
			width = 8
		case '0', '1', '2', '3', '4', '5', '6', '7':
			j := i
			for j < len(t) && j < i+3 && t[j] >= '0' && t[j] <= '7' {
				j++
			}
			v, _ := strconv.ParseUint(t[i:j], 8, 32)
			b.WriteRune(rune(v))
			i = j - 1
		default:
			b.WriteByte('\\')
			b.WriteByte(c)
		}
		if width > 0 {
			if i+1+width > len(t) {
				return "", s.Errorf(n, "escape in string literal %s", s.snippet(n))
			}
			v, err := strconv.ParseUint(t[i+1:i+1+width], 16, 32)
			if err != nil {
				return "", s.Errorf(n, "escape in string literal %s", s.snippet(n))
			}
			b.WriteRune(rune(v))
			i += width
		}
	}
	return b.String(), nil
}

// part is the real number at args[i], one of the two that complex(re, im) takes.
func part(args []Arg, i int) (float64, bool) {
	if i >= len(args) {
		return 0, false
	}
	switch v := args[i].(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}
