package snapshot

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"

	"whittle/capture/python/code"
)

// codeText is a code object but for its source, which many share.
type codeText struct {
	Name, QualName, Filename             string
	FirstLine, ArgCount, PosOnly, KwOnly int
	Flags                                code.Flags
	Names, VarNames, CellVars, FreeVars  []string
	Instrs                               []code.Instr
	ExcTable                             []code.Handler
	StackSize                            int
	Consts                               []constant
	Source                               int // the snapshot's text; -1: none
}

// constant is a constant of a code object: one of the fields, by kind.
type constant struct {
	Kind  string     `json:"k"`
	Text  string     `json:"t,omitempty"`
	Items []constant `json:"i,omitempty"`
	Code  *codeText  `json:"c,omitempty"`
}

// code writes a code object down, with those among its constants. The names that it speaks of are the globals that Finish has to write.
func (e *encoder) code(c *code.Code) *codeText {
	t := &codeText{Name: c.Name, QualName: c.QualName, Filename: c.Filename, FirstLine: c.FirstLine, ArgCount: c.ArgCount, PosOnly: c.PosOnly, KwOnly: c.KwOnly, Flags: c.Flags,
		Names: c.Names, VarNames: c.VarNames, CellVars: c.CellVars, FreeVars: c.FreeVars, Instrs: c.Instrs, ExcTable: c.ExcTable, StackSize: c.StackSize, Source: -1}
	for _, n := range c.Names {
		e.names[n] = true
	}
	for _, k := range c.Consts {
		t.Consts = append(t.Consts, e.constant(k))
	}
	if c.Source != nil {
		i, ok := e.sources[c.Source]
		if !ok {
			i = len(e.out.Sources)
			e.sources[c.Source] = i
			e.out.Sources = append(e.out.Sources, c.Source.Text)
		}
		t.Source = i
	}
	return t
}

// constant writes a constant down.
func (e *encoder) constant(k any) constant {
	items := func(xs []any) (out []constant) {
		for _, x := range xs {
			out = append(out, e.constant(x))
		}
		return out
	}
	switch k := k.(type) {
	case nil:
		return constant{Kind: "none"}
	case bool:
		return constant{Kind: "bool", Text: strconv.FormatBool(k)}
	case int:
		return constant{Kind: "int", Text: strconv.Itoa(k)}
	case int64:
		return constant{Kind: "int", Text: strconv.FormatInt(k, 10)}
	case *big.Int:
		return constant{Kind: "big", Text: k.String()}
	case float64:
		return constant{Kind: "float", Text: floatText(k)}
	case complex128:
		return constant{Kind: "complex", Items: []constant{{Text: floatText(real(k))}, {Text: floatText(imag(k))}}}
	case string:
		return constant{Kind: "str", Text: base64.StdEncoding.EncodeToString([]byte(k))}
	case code.Bytes:
		return constant{Kind: "bytes", Text: base64.StdEncoding.EncodeToString([]byte(k))}
	case code.Ellipsis:
		return constant{Kind: "ellipsis"}
	case code.Tuple:
		return constant{Kind: "tuple", Items: items(k)}
	case code.FrozenSet:
		return constant{Kind: "frozenset", Items: items(k)}
	case *code.Code:
		return constant{Kind: "code", Code: e.code(k)}
	}
	e.fail(fmt.Errorf("a constant of Go type %T has no written form", k))
	return constant{Kind: "none"}
}

// floatText is exact, for infinities and NaN too.
func floatText(f float64) string { return strconv.FormatUint(math.Float64bits(f), 16) }

// parseFloat reads what floatText wrote.
func parseFloat(s string) (float64, error) {
	b, err := strconv.ParseUint(s, 16, 64)
	return math.Float64frombits(b), err
}

// code makes a code object. Code of one source shares its text again.
func (d *decoder) code(t *codeText) (*code.Code, error) {
	if t == nil {
		return nil, fmt.Errorf("a code object is missing")
	}
	c := &code.Code{Name: t.Name, QualName: t.QualName, Filename: t.Filename, FirstLine: t.FirstLine, ArgCount: t.ArgCount, PosOnly: t.PosOnly, KwOnly: t.KwOnly, Flags: t.Flags,
		Names: t.Names, VarNames: t.VarNames, CellVars: t.CellVars, FreeVars: t.FreeVars, Instrs: t.Instrs, ExcTable: t.ExcTable, StackSize: t.StackSize}
	if t.Source >= 0 && t.Source < len(d.in.Sources) {
		c.Source = d.sources[t.Source]
	}
	for _, k := range t.Consts {
		v, err := d.constant(k)
		if err != nil {
			return nil, err
		}
		c.Consts = append(c.Consts, v)
	}
	return c, nil
}

// constant makes a constant.
func (d *decoder) constant(k constant) (any, error) {
	items := func() ([]any, error) {
		out := make([]any, len(k.Items))
		for i, x := range k.Items {
			v, err := d.constant(x)
			if err != nil {
				return nil, err
			}
			out[i] = v
		}
		return out, nil
	}
	raw := func() (string, error) {
		b, err := base64.StdEncoding.DecodeString(k.Text)
		return string(b), err
	}
	switch k.Kind {
	case "none":
		return nil, nil
	case "bool":
		return k.Text == "true", nil
	case "int":
		return strconv.ParseInt(k.Text, 10, 64)
	case "big":
		if b, ok := new(big.Int).SetString(k.Text, 10); ok {
			return b, nil
		}
	case "float":
		return parseFloat(k.Text)
	case "complex":
		if len(k.Items) == 2 {
			re, err := parseFloat(k.Items[0].Text)
			im, err2 := parseFloat(k.Items[1].Text)
			if err == nil && err2 == nil {
				return complex(re, im), nil
			}
		}
	case "str":
		return raw()
	case "bytes":
		s, err := raw()
		return code.Bytes(s), err
	case "ellipsis":
		return code.Ellipsis{}, nil
	case "tuple":
		xs, err := items()
		return code.Tuple(xs), err
	case "frozenset":
		xs, err := items()
		return code.FrozenSet(xs), err
	case "code":
		return d.code(k.Code)
	}
	b, _ := json.Marshal(k)
	return nil, fmt.Errorf("no constant: %.80s", b)
}
