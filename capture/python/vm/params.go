package vm

import (
	"slices"
	"strings"
)

// Params are the parameters of a native function, which words its errors as functions written in C do.
type Params struct {
	name     string
	names    []string
	defaults []Object // nil for a required parameter
	posOnly  int      // so many go by position alone
	maxPos   int      // so many may go by position
	required int      // so many of the first ones have no default
}

// NewParams reads parameters like "a, /, b=None, *, c=0". A default is as ParseArgs has it; what is only told from "not given" has the default
// "nil" and is a nil Object.
func NewParams(name, sig string) *Params {
	p := &Params{name: name, maxPos: -1}
	for part := range strings.SplitSeq(sig, ",") {
		switch part = strings.TrimSpace(part); part {
		case "":
		case "/":
			p.posOnly = len(p.names)
		case "*":
			p.maxPos = len(p.names)
		default:
			n, d, ok := strings.Cut(part, "=")
			p.names = append(p.names, n)
			var def Object
			switch {
			case !ok:
				p.required = len(p.names)
			case d != "nil":
				def = parseDefault(d)
			}
			p.defaults = append(p.defaults, def)
		}
	}
	if p.maxPos < 0 {
		p.maxPos = len(p.names)
	}
	return p
}

// Bind gives one value for each parameter.
func (p *Params) Bind(in *Interp, args []Object, kw []KwArg) ([]Object, error) {
	if p.posOnly > 0 && p.posOnly == len(p.names) {
		if err := p.byPosition(in, len(args), len(kw)); err != nil {
			return nil, err
		}
	}
	if err := p.tooMany(in, len(args), len(kw)); err != nil {
		return nil, err
	}
	out := slices.Clone(p.defaults)
	copy(out, args)
	given := len(args)
	unknown := ""
	for _, k := range kw {
		i := slices.Index(p.names, k.Name)
		if i < 0 && p.posOnly == 0 { // that an argument is missing is told first
			unknown = k.Name
			continue
		}
		if i < p.posOnly {
			if i >= 0 && p.posOnly <= len(args) {
				i = -1
			}
			if i < 0 {
				return nil, in.Errorf(in.Exc.TypeError, "'%s' is an invalid keyword argument for %s()", k.Name, p.name)
			}
			return nil, p.positional(in, given)
		}
		if i < len(args) {
			return nil, in.Errorf(in.Exc.TypeError, "argument for %s() given by name ('%s') and position (%d)", p.name, k.Name, i+1)
		}
		out[i] = k.Value
		given++
	}
	for i := range p.required {
		if out[i] != nil {
			continue
		}
		if i < p.posOnly {
			return nil, p.positional(in, len(args))
		}
		return nil, in.Errorf(in.Exc.TypeError, "%s missing required argument '%s' (pos %d)", p.called(), p.names[i], i+1)
	}
	if unknown != "" {
		return nil, in.Errorf(in.Exc.TypeError, "'%s' is an invalid keyword argument for %s()", unknown, p.name)
	}
	return out, nil
}

// byPosition is the error of a wrong number of arguments, or of keywords, where no parameter goes by name.
func (p *Params) byPosition(in *Interp, args, kw int) error {
	least, most := p.required, len(p.names)
	switch {
	case kw > 0:
		return in.Errorf(in.Exc.TypeError, "%s takes no keyword arguments", p.called())
	case least == most && args != most:
		return in.Errorf(in.Exc.TypeError, "%s expected %d argument%s, got %d", p.name, most, plural(most), args)
	case args < least:
		return in.Errorf(in.Exc.TypeError, "%s expected at least %d argument%s, got %d", p.name, least, plural(least), args)
	case args > most:
		return in.Errorf(in.Exc.TypeError, "%s expected at most %d argument%s, got %d", p.name, most, plural(most), args)
	}
	return nil
}

// tooMany is the error of more arguments than there are parameters.
func (p *Params) tooMany(in *Interp, args, kw int) error {
	if args+kw > len(p.names) {
		what := ""
		if args == 0 {
			what = "keyword "
		}
		return in.Errorf(in.Exc.TypeError, "%s takes at most %d %sargument%s (%d given)", p.called(), len(p.names), what, plural(len(p.names)), args+kw)
	}
	if args > p.maxPos {
		if p.maxPos == 0 {
			return in.Errorf(in.Exc.TypeError, "%s takes no positional arguments", p.called())
		}
		how := "exactly"
		if p.required < p.maxPos {
			how = "at most"
		}
		return in.Errorf(in.Exc.TypeError, "%s takes %s %d positional argument%s (%d given)", p.called(), how, p.maxPos, plural(p.maxPos), args)
	}
	return nil
}

// positional is the error of too few arguments by position.
func (p *Params) positional(in *Interp, given int) error {
	least, how := min(p.required, p.posOnly), "exactly"
	if least < p.maxPos {
		how = "at least"
	}
	return in.Errorf(in.Exc.TypeError, "%s takes %s %d positional argument%s (%d given)", p.called(), how, least, plural(least), given)
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

// called is how errors name the function. One without a name of its own, as a constructor may be, is "function".
func (p *Params) called() string {
	if p.name == "" {
		return "function"
	}
	return p.name + "()"
}
