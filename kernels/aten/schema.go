package aten

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"whittle/kernels/tensor"
)

// A Schema is a parsed operator signature.
type Schema struct {
	Namespace string // aten
	Name      string // add
	Overload  string // Tensor, "" for default
	Args      []Arg
	Returns   []Ret
}

// An Arg is one argument of a schema.
type Arg struct {
	Name       string
	Type       Type
	Alias      string // "a", "a!", "a -> *"; "" for none
	Default    Value
	HasDefault bool
	KwOnly     bool

	text string // the default as written
}

// Write reports whether the operator mutates the argument.
func (a Arg) Write() bool { return strings.Contains(a.Alias, "!") }

// A Ret is one result of a schema.
type Ret struct {
	Name  string // "" when unnamed
	Type  Type
	Alias string
}

// A Type is a schema type: a base name with list and optional markers, as in Tensor?[] or int[2]?.
type Type struct {
	Base     string // Tensor, int, SymInt, float, bool, Scalar, str, ScalarType, Layout, Device, MemoryFormat, Generator, Stream, Storage ...
	ElemOpt  bool   // Base? inside a list
	List     bool
	Size     int  // n of int[n]; 0 when not given
	Optional bool // the whole is optional
}

func (t Type) String() string { return t.text("") }

func (t Type) text(alias string) string {
	s := t.Base
	if alias != "" {
		s += "(" + alias + ")"
	}
	if t.List {
		if t.ElemOpt {
			s += "?"
		}
		s += "["
		if t.Size > 0 {
			s += strconv.Itoa(t.Size)
		}
		s += "]"
	}
	if t.Optional {
		s += "?"
	}
	return s
}

// FullName is "aten::add.Tensor", without a suffix for the default overload.
func (s *Schema) FullName() string {
	if s.Overload == "" {
		return s.Namespace + "::" + s.Name
	}
	return s.Namespace + "::" + s.Name + "." + s.Overload
}

// OpName is the Python spelling under torch.ops: "aten.add.Tensor", "aten.relu.default".
func (s *Schema) OpName() string {
	o := s.Overload
	if o == "" {
		o = "default"
	}
	return s.Namespace + "." + s.Name + "." + o
}

// Arg finds an argument's position by name, -1 if there is none.
func (s *Schema) Arg(name string) int {
	for i := range s.Args {
		if s.Args[i].Name == name {
			return i
		}
	}
	return -1
}

// String prints the schema in PyTorch's grammar; ParseSchema reads it back.
func (s *Schema) String() string {
	var b strings.Builder
	b.WriteString(s.FullName() + "(")
	kw := false
	for i, a := range s.Args {
		if i > 0 {
			b.WriteString(", ")
		}
		if a.KwOnly && !kw {
			kw = true
			b.WriteString("*, ")
		}
		b.WriteString(a.Type.text(a.Alias) + " " + a.Name)
		if a.HasDefault {
			b.WriteString("=" + a.defaultText())
		}
	}
	b.WriteString(") -> ")
	ret := func(r Ret) string {
		x := r.Type.text(r.Alias)
		if r.Name != "" {
			x += " " + r.Name
		}
		return x
	}
	if len(s.Returns) == 1 {
		b.WriteString(ret(s.Returns[0]))
		return b.String()
	}
	b.WriteByte('(')
	for i, r := range s.Returns {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(ret(r))
	}
	b.WriteByte(')')
	return b.String()
}

// defaultText is the default as PyTorch prints it: floats with all digits that they have, and a point.
func (a *Arg) defaultText() string {
	f, ok := a.Default.(float64)
	if !ok || math.IsInf(f, 0) || math.IsNaN(f) || a.Type.Base != "float" {
		return a.text
	}
	s := strconv.FormatFloat(f, 'g', 17, 64)
	if !strings.ContainsAny(s, ".e") {
		s += "."
	}
	return s
}

type schemaParser struct {
	src string
	pos int
}

// ParseSchema reads a signature in the grammar of native_functions.yaml and of PyTorch's printed schemas.
func ParseSchema(src string) (*Schema, error) {
	p := &schemaParser{src: src}
	s, err := p.schema()
	if err != nil {
		return nil, fmt.Errorf("schema %q: column %d: %w", src, p.pos+1, err)
	}
	return s, nil
}

func (p *schemaParser) space() {
	for p.pos < len(p.src) && (p.src[p.pos] == ' ' || p.src[p.pos] == '\n' || p.src[p.pos] == '\t') {
		p.pos++
	}
}

func (p *schemaParser) has(tok string) bool {
	p.space()
	if strings.HasPrefix(p.src[p.pos:], tok) {
		p.pos += len(tok)
		return true
	}
	return false
}

func (p *schemaParser) need(tok string) error {
	if !p.has(tok) {
		return fmt.Errorf("expected %q", tok)
	}
	return nil
}

func identByte(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

func (p *schemaParser) ident() (string, error) {
	p.space()
	i := p.pos
	for p.pos < len(p.src) && identByte(p.src[p.pos]) {
		p.pos++
	}
	if i == p.pos {
		return "", fmt.Errorf("expected a name")
	}
	return p.src[i:p.pos], nil
}

func (p *schemaParser) schema() (*Schema, error) {
	s := &Schema{}
	name, err := p.ident()
	if err != nil {
		return nil, err
	}
	if p.has("::") {
		s.Namespace = name
		if name, err = p.ident(); err != nil {
			return nil, err
		}
	} else {
		s.Namespace = "aten"
	}
	s.Name = name
	if p.has(".") {
		if s.Overload, err = p.ident(); err != nil {
			return nil, err
		}
	}
	if err := p.need("("); err != nil {
		return nil, err
	}
	kw := false
	if p.pos < len(p.src) && p.src[p.pos] != ')' {
		s.Args = make([]Arg, 0, 1+strings.Count(p.src[p.pos:], ", ")) // a few more where defaults or results have commas
	}
	for !p.has(")") {
		if len(s.Args) > 0 || kw {
			if err := p.need(","); err != nil {
				return nil, err
			}
		}
		if p.has("*") {
			if kw {
				return nil, fmt.Errorf("second *")
			}
			kw = true
			if err := p.need(","); err != nil {
				return nil, err
			}
		}
		a, err := p.arg()
		if err != nil {
			return nil, err
		}
		a.KwOnly = kw
		if s.Arg(a.Name) >= 0 {
			return nil, fmt.Errorf("duplicate argument %s", a.Name)
		}
		s.Args = append(s.Args, a)
	}
	if err := p.need("->"); err != nil {
		return nil, err
	}
	if p.has("(") {
		for !p.has(")") {
			if len(s.Returns) > 0 {
				if err := p.need(","); err != nil {
					return nil, err
				}
			}
			r, err := p.ret()
			if err != nil {
				return nil, err
			}
			s.Returns = append(s.Returns, r)
		}
	} else {
		r, err := p.ret()
		if err != nil {
			return nil, err
		}
		s.Returns = []Ret{r}
	}
	p.space()
	if p.pos != len(p.src) {
		return nil, fmt.Errorf("text after the end")
	}
	return s, nil
}

func (p *schemaParser) typ() (Type, string, error) {
	var t Type
	alias := ""
	base, err := p.ident()
	if err != nil {
		return t, "", err
	}
	t.Base = base
	if p.pos < len(p.src) && p.src[p.pos] == '(' {
		end := strings.IndexByte(p.src[p.pos:], ')')
		if end < 0 {
			return t, "", fmt.Errorf("unclosed alias set")
		}
		alias = strings.TrimSpace(p.src[p.pos+1 : p.pos+end])
		if alias == "" {
			return t, "", fmt.Errorf("empty alias set")
		}
		for i := 0; i < len(alias); i++ {
			if c := alias[i]; !identByte(c) && !strings.ContainsRune("!|->* ", rune(c)) {
				return t, "", fmt.Errorf("bad alias set %q", alias)
			}
		}
		p.pos += end + 1
	}
	opt := false
	for p.pos < len(p.src) {
		switch p.src[p.pos] {
		case '?':
			if opt {
				return t, "", fmt.Errorf("second ?")
			}
			opt = true
			p.pos++
			continue
		case '[':
			if t.List {
				return t, "", fmt.Errorf("nested lists are not supported")
			}
			end := strings.IndexByte(p.src[p.pos:], ']')
			if end < 0 {
				return t, "", fmt.Errorf("unclosed [")
			}
			if n := p.src[p.pos+1 : p.pos+end]; n != "" {
				v, err := strconv.ParseUint(n, 10, 16)
				if err != nil || v == 0 {
					return t, "", fmt.Errorf("bad list size %q", n)
				}
				t.Size = int(v)
			}
			t.List, t.ElemOpt, opt = true, opt, false
			p.pos += end + 1
			continue
		}
		break
	}
	t.Optional = opt
	return t, alias, nil
}

func (p *schemaParser) arg() (Arg, error) {
	var a Arg
	var err error
	if a.Type, a.Alias, err = p.typ(); err != nil {
		return a, err
	}
	if a.Name, err = p.ident(); err != nil {
		return a, err
	}
	if p.has("=") {
		p.space()
		i := p.pos
		if a.Default, err = p.value(); err != nil {
			return a, err
		}
		a.text = p.src[i:p.pos]
		a.HasDefault = true
		a.Default = fitDefault(a.Type, a.Default)
	}
	return a, nil
}

func (p *schemaParser) ret() (Ret, error) {
	var r Ret
	var err error
	if r.Type, r.Alias, err = p.typ(); err != nil {
		return r, err
	}
	p.space()
	if p.pos < len(p.src) && identByte(p.src[p.pos]) {
		r.Name, err = p.ident()
	}
	return r, err
}

// enumDefaults are the names that native_functions.yaml uses as defaults.
var enumDefaults = map[string]Value{
	"None": nil, "True": true, "False": false,
	"Mean": int64(1), "Sum": int64(2),
	"contiguous_format": tensor.ContiguousFormat, "preserve_format": tensor.PreserveFormat,
	"strided": tensor.Strided, "long": tensor.Int64, "cpu": tensor.CPU,
	"inf": math.Inf(1), "nan": math.NaN(),
}

func (p *schemaParser) value() (Value, error) {
	p.space()
	if p.pos == len(p.src) {
		return nil, fmt.Errorf("expected a value")
	}
	switch c := p.src[p.pos]; {
	case c == '[':
		p.pos++
		list := []Value{}
		for !p.has("]") {
			if len(list) > 0 {
				if err := p.need(","); err != nil {
					return nil, err
				}
			}
			v, err := p.value()
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, nil
	case c == '"' || c == '\'':
		q := c
		var b strings.Builder
		for i := p.pos + 1; i < len(p.src); i++ {
			switch p.src[i] {
			case q:
				p.pos = i + 1
				return b.String(), nil
			case '\\':
				i++
				if i < len(p.src) {
					b.WriteByte(p.src[i])
				}
			default:
				b.WriteByte(p.src[i])
			}
		}
		return nil, fmt.Errorf("unclosed string")
	case c == '-' || c == '.' || c >= '0' && c <= '9':
		i := p.pos
		for p.pos < len(p.src) && (identByte(p.src[p.pos]) || strings.IndexByte("+-.", p.src[p.pos]) >= 0) {
			p.pos++
		}
		t := p.src[i:p.pos]
		if n, err := strconv.ParseInt(t, 10, 64); err == nil {
			return n, nil
		}
		f, err := strconv.ParseFloat(t, 64)
		if err != nil {
			return nil, fmt.Errorf("bad number %q", t)
		}
		return f, nil
	}
	id, err := p.ident()
	if err != nil {
		return nil, err
	}
	v, ok := enumDefaults[id]
	if !ok {
		return nil, fmt.Errorf("unknown default %s", id)
	}
	return v, nil
}

// fitDefault gives a default its argument's type: printed schemas write enumerators as numbers.
func fitDefault(t Type, v Value) Value {
	n, ok := v.(int64)
	if !ok {
		return v
	}
	if t.List {
		if t.Size > 0 {
			return repeat(n, t.Size)
		}
		return v
	}
	switch t.Base {
	case "float":
		return float64(n)
	case "ScalarType":
		enum := map[int64]tensor.DType{0: tensor.UInt8, 1: tensor.Int8, 2: tensor.Int16, 3: tensor.Int32, 4: tensor.Int64,
			5: tensor.Float16, 6: tensor.Float32, 7: tensor.Float64, 9: tensor.Complex64, 10: tensor.Complex128, 11: tensor.Bool, 15: tensor.BFloat16}
		if d, ok := enum[n]; ok {
			return d
		}
	case "MemoryFormat":
		f := [...]tensor.MemoryFormat{tensor.ContiguousFormat, tensor.PreserveFormat, tensor.ChannelsLast, tensor.ChannelsLast3d}
		if n >= 0 && n < int64(len(f)) {
			return f[n]
		}
	}
	return v
}
