package vm

import (
	"slices"
	"strings"
	"sync"
)

// Signature is the parameters of a function that is written in Go.
type Signature struct {
	name   string // of the function, for errors
	params []sigParam
	npos   int // how many may be given by position
	nreq   int // how many of those must be given
}

type sigParam struct {
	name string
	def  Object // nil: the argument must be given
	opt  bool   // it may be left out, and is a nil Object then
	kind byte   // 'p' positional or keyword, 'o' positional only, 'k' keyword only, '*', 'd' for **
}

// NewSignature reads "a, b=None, *args, c, **kw": a name with a default is optional and is None when absent unless the default is one of
// True, False, a number, a quoted string, or nil, which leaves it a nil Object. A lone "/" or "*" separates as in Python.
func NewSignature(fname, sig string) *Signature {
	s := &Signature{name: fname}
	kind := byte('p')
	for _, part := range strings.Split(sig, ",") {
		part = strings.TrimSpace(part)
		switch {
		case part == "":
		case part == "/":
			for i := range s.params {
				s.params[i].kind = 'o'
			}
		case part == "*":
			kind = 'k'
		case strings.HasPrefix(part, "**"):
			s.params = append(s.params, sigParam{part[2:], nil, false, 'd'})
		case strings.HasPrefix(part, "*"):
			s.params = append(s.params, sigParam{part[1:], nil, false, '*'})
			kind = 'k'
		default:
			n, d, ok := strings.Cut(part, "=")
			p := sigParam{name: strings.TrimSpace(n), kind: kind}
			if ok {
				if d = strings.TrimSpace(d); d == "nil" {
					p.opt = true
				} else {
					p.def = parseDefault(d)
				}
			}
			s.params = append(s.params, p)
		}
	}
	for _, p := range s.params {
		if p.kind == 'p' || p.kind == 'o' {
			s.npos++
			if p.def == nil && !p.opt {
				s.nreq++
			}
		}
	}
	return s
}

// signatures are those that ParseArgs has read.
var signatures sync.Map

// ParseArgs binds arguments to a signature, see NewSignature. Its errors are those of a function in C, see Params, unless it takes any number of arguments.
// A first parameter self or cls is not counted in them.
func (in *Interp) ParseArgs(fname string, args []Object, kw []KwArg, sig string) ([]Object, error) {
	key := [2]string{fname, sig}
	s, ok := signatures.Load(key)
	if !ok {
		s, _ = signatures.LoadOrStore(key, readSignature(fname, sig))
	}
	switch s := s.(type) {
	case ofSelf:
		if len(args) == 0 {
			return nil, in.Errorf(in.Exc.TypeError, "unbound method %s() needs an argument", fname)
		}
		out, err := s.Bind(in, args[1:], kw)
		if err != nil {
			return nil, err
		}
		return slices.Insert(out, 0, args[0]), nil
	case *Params:
		return s.Bind(in, args, kw)
	}
	return s.(*Signature).Bind(in, args, kw)
}

// ofSelf are the parameters of a method, self left out.
type ofSelf struct{ *Params }

// readSignature gives a *Params, an ofSelf, or a *Signature where there are parameters that take any number.
func readSignature(fname, sig string) any {
	if strings.Contains(strings.ReplaceAll(sig, "*,", ""), "*") {
		return NewSignature(fname, sig)
	}
	for _, self := range []string{"self", "cls"} {
		if rest, ok := strings.CutPrefix(sig, self+","); ok {
			rest = strings.TrimPrefix(strings.TrimSpace(rest), "/,")
			return ofSelf{NewParams(fname, rest)}
		}
	}
	return NewParams(fname, sig)
}

// Bind puts arguments in their places: one entry per parameter, *args a *Tuple and **kw a *Dict.
func (s *Signature) Bind(in *Interp, args []Object, kw []KwArg) ([]Object, error) {
	out := make([]Object, len(s.params))
	used := 0
	for i, p := range s.params {
		switch p.kind {
		case 'p', 'o':
			if used < len(args) {
				out[i] = args[used]
				used++
			}
		case '*':
			out[i] = NewTuple(slices.Clone(args[min(used, len(args)):])...)
			used = len(args)
		case 'd':
			out[i] = NewDict()
		}
	}
	if used < len(args) {
		return nil, s.tooMany(in, len(args))
	}
	for _, k := range kw {
		if err := s.keyword(in, out, k); err != nil {
			return nil, err
		}
	}
	var missing []string
	mk := "positional"
	for i, p := range s.params {
		if out[i] != nil || p.opt {
			continue
		}
		if p.def == nil {
			missing = append(missing, p.name)
			if p.kind == 'k' {
				mk = "keyword-only"
			}
			continue
		}
		out[i] = p.def
	}
	if len(missing) > 0 {
		return nil, (&Function{Qualname: s.name}).missing(in, mk, missing)
	}
	return out, nil
}

// tooMany is the error of n arguments by position.
func (s *Signature) tooMany(in *Interp, n int) error {
	if s.nreq < s.npos {
		return in.Errorf(in.Exc.TypeError, "%s() takes from %d to %d positional arguments but %d were given", s.name, s.nreq, s.npos, n)
	}
	pl := "s"
	if s.npos == 1 {
		pl = ""
	}
	return in.Errorf(in.Exc.TypeError, "%s() takes %d positional argument%s but %d were given", s.name, s.npos, pl, n)
}

// keyword puts one argument in its place by its name.
func (s *Signature) keyword(in *Interp, out []Object, k KwArg) error {
	for i, p := range s.params {
		if p.name == k.Name && (p.kind == 'p' || p.kind == 'k') {
			if out[i] != nil {
				return in.Errorf(in.Exc.TypeError, "%s() got multiple values for argument '%s'", s.name, k.Name)
			}
			out[i] = k.Value
			return nil
		}
	}
	if n := len(s.params); n > 0 && s.params[n-1].kind == 'd' {
		out[n-1].(*Dict).SetStr(k.Name, k.Value)
		return nil
	}
	return in.Errorf(in.Exc.TypeError, "%s() got an unexpected keyword argument '%s'", s.name, k.Name)
}

// parseDefault reads a default of a signature.
func parseDefault(s string) Object {
	switch s {
	case "True":
		return True
	case "False":
		return False
	case "None", "...":
		return None
	}
	if n := len(s); n >= 2 && (s[0] == '"' || s[0] == '\'') && s[n-1] == s[0] {
		return Str(s[1 : n-1])
	}
	if v, ok := parseInt(s, 10); ok {
		return v
	}
	if f, ok := parseFloat(s); ok {
		return Float(f)
	}
	return None
}
