package vm

import (
	"slices"
	"strings"
)

// ParseArgs binds arguments to a signature like "a, b=None, *args, c, **kw": a name with a default is optional and is
// None when absent unless the default is one of True, False, an integer, or a quoted string. The result has one entry per
// parameter; *args is a *Tuple and **kw a *Dict. A lone "/" or "*" separates as in Python.
func (in *Interp) ParseArgs(fname string, args []Object, kw []KwArg, sig string) ([]Object, error) {
	type param struct {
		name string
		def  Object
		kind byte // 'p' positional or keyword, 'o' positional only, 'k' keyword only, '*', 'd'
	}
	var ps []param
	kind := byte('p')
	for _, part := range strings.Split(sig, ",") {
		part = strings.TrimSpace(part)
		switch {
		case part == "":
		case part == "/":
			for i := range ps {
				ps[i].kind = 'o'
			}
		case part == "*":
			kind = 'k'
		case strings.HasPrefix(part, "**"):
			ps = append(ps, param{part[2:], nil, 'd'})
		case strings.HasPrefix(part, "*"):
			ps = append(ps, param{part[1:], nil, '*'})
			kind = 'k'
		default:
			n, d, ok := strings.Cut(part, "=")
			p := param{name: strings.TrimSpace(n), kind: kind}
			if ok {
				p.def = parseDefault(strings.TrimSpace(d))
			}
			ps = append(ps, p)
		}
	}
	out := make([]Object, len(ps))
	used := 0
	npos, nreq := 0, 0
	for i, p := range ps {
		switch p.kind {
		case 'p', 'o':
			npos++
			if p.def == nil {
				nreq++
			}
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
		if nreq == npos {
			pl := "s"
			if npos == 1 {
				pl = ""
			}
			return nil, in.Errorf(in.Exc.TypeError, "%s() takes %d positional argument%s but %d were given", fname, npos, pl, len(args))
		}
		return nil, in.Errorf(in.Exc.TypeError, "%s() takes from %d to %d positional arguments but %d were given", fname, nreq, npos, len(args))
	}
next:
	for _, k := range kw {
		for i, p := range ps {
			if p.name == k.Name && (p.kind == 'p' || p.kind == 'k') {
				if out[i] != nil {
					return nil, in.Errorf(in.Exc.TypeError, "%s() got multiple values for argument '%s'", fname, k.Name)
				}
				out[i] = k.Value
				continue next
			}
		}
		if len(ps) > 0 && ps[len(ps)-1].kind == 'd' {
			out[len(ps)-1].(*Dict).SetStr(k.Name, k.Value)
			continue
		}
		return nil, in.Errorf(in.Exc.TypeError, "%s() got an unexpected keyword argument '%s'", fname, k.Name)
	}
	var missing []string
	mk := "positional"
	for i, p := range ps {
		if out[i] == nil {
			if p.def == nil {
				missing = append(missing, p.name)
				if p.kind == 'k' {
					mk = "keyword-only"
				}
				continue
			}
			out[i] = p.def
		}
	}
	if len(missing) > 0 {
		return nil, (&Function{Qualname: fname}).missing(in, mk, missing)
	}
	return out, nil
}

// parseDefault reads a default of ParseArgs.
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
