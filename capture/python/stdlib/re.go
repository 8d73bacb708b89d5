package stdlib

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dlclark/regexp2"

	"whittle/capture/python/vm"
)

// compiled is a pattern ready to match; lib/re.py wraps it.
type compiled struct {
	re     *regexp2.Regexp
	groups int
	names  []string
}

// reModule gives compile(pattern, flags) -> (handle, groups, names); search(handle, text, pos, endpos, mode) -> spans or None.
// Offsets are in characters. mode: 0 search, 1 match, 2 fullmatch.
func reModule(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("_re", "")
	handle := in.NewNativeType(vm.Spec{Name: "handle", Module: "_re"})
	m.FuncN("compile", 2, 2, func(in *vm.Interp, args []vm.Object) (vm.Object, error) {
		flags, _ := vm.AsInt(args[1])
		pat := translate(str(args[0]))
		opt := regexp2.RegexOptions(0)
		for bit, o := range map[int64]regexp2.RegexOptions{2: regexp2.IgnoreCase, 8: regexp2.Multiline, 16: regexp2.Singleline, 64: regexp2.IgnorePatternWhitespace} {
			if flags&bit != 0 {
				opt |= o
			}
		}
		re, err := regexp2.Compile(pat, opt)
		if err != nil {
			return nil, in.Errorf(in.Exc.ValueError, "%s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		}
		re.MatchTimeout = 10 * time.Minute
		c := &compiled{re: re}
		order := groupNames(str(args[0]))
		c.groups = len(order)
		names := &vm.List{}
		for _, n := range order {
			if n == "" {
				names.Items = append(names.Items, vm.None)
			} else {
				names.Items = append(names.Items, vm.Str(n))
			}
		}
		c.names = order
		return vm.NewTuple(vm.NewInstance(handle, c), vm.MakeInt(int64(c.groups)), names), nil
	})
	m.FuncN("search", 5, 5, func(in *vm.Interp, args []vm.Object) (vm.Object, error) {
		c := args[0].(*vm.Instance).Native.(*compiled)
		text := str(args[1])
		pos, _ := vm.AsInt(args[2])
		end, _ := vm.AsInt(args[3])
		mode, _ := vm.AsInt(args[4])
		rs := []rune(text)
		if end >= 0 && int(end) < len(rs) {
			rs = rs[:end]
		}
		if int(pos) > len(rs) {
			return vm.None, nil
		}
		mt, err := c.re.FindRunesMatchStartingAt(rs, int(max(pos, 0)))
		if mt != nil && err == nil && mode != 0 {
			if mt.Index != int(pos) {
				return vm.None, nil
			}
			if mode == 2 && mt.Index+mt.Length != len(rs) {
				// Another way to match may reach the end: ask for it.
				full, e := regexp2.Compile("(?:"+c.re.String()+`)\z`, 0)
				if e != nil {
					return vm.None, nil
				}
				mt, err = full.FindRunesMatchStartingAt(rs, int(pos))
				if mt != nil && mt.Index != int(pos) {
					return vm.None, nil
				}
			}
		}
		if err != nil {
			return nil, in.Errorf(in.Exc.RuntimeError, "regular expression: %v", err)
		}
		if mt == nil {
			return vm.None, nil
		}
		out := []vm.Object{vm.MakeInt(int64(mt.Index)), vm.MakeInt(int64(mt.Index + mt.Length))}
		number := 0
		for _, n := range c.names {
			var g *regexp2.Group
			if n != "" {
				g = mt.GroupByName(n)
			} else {
				number++
				g = mt.GroupByNumber(number)
			}
			if g == nil || len(g.Captures) == 0 {
				out = append(out, vm.MakeInt(-1), vm.MakeInt(-1))
			} else {
				out = append(out, vm.MakeInt(int64(g.Index)), vm.MakeInt(int64(g.Index+g.Length)))
			}
		}
		return vm.NewTuple(out...), nil
	})
	return m, nil
}

// groupNames lists the capturing groups of a pattern in order, "" for those without a name.
func groupNames(p string) (names []string) {
	class := false
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '\\':
			i++
		case '[':
			if !class {
				class = true
				if i+1 < len(p) && p[i+1] == '^' {
					i++
				}
				if i+1 < len(p) && p[i+1] == ']' {
					i++
				}
			}
		case ']':
			class = false
		case '(':
			if class {
				continue
			}
			if i+1 < len(p) && p[i+1] == '?' {
				if strings.HasPrefix(p[i:], "(?P<") {
					if j := strings.IndexByte(p[i:], '>'); j > 0 {
						names = append(names, p[i+4:i+j])
					}
				}
				continue
			}
			names = append(names, "")
		}
	}
	return names
}

// translate turns Python's spelling into that of the matching library.
func translate(p string) string {
	var sb strings.Builder
	class := false
	for i := 0; i < len(p); {
		c := p[i]
		switch {
		case c == '\\' && i+1 < len(p):
			switch p[i+1] {
			case 'Z':
				sb.WriteString(`\z`)
			case 'A':
				sb.WriteString(`\A`)
			default:
				sb.WriteString(p[i : i+2])
			}
			i += 2
			continue
		case class:
			if c == ']' {
				class = false
			} else if c == '[' {
				sb.WriteByte('\\')
			}
		case c == '[':
			class = true
			sb.WriteByte(c)
			i++
			if i < len(p) && p[i] == '^' {
				sb.WriteByte('^')
				i++
			}
			if i < len(p) && p[i] == ']' {
				sb.WriteString(`\]`)
				i++
			}
			continue
		case strings.HasPrefix(p[i:], "(?P<"):
			sb.WriteString("(?<")
			i += 4
			continue
		case strings.HasPrefix(p[i:], "(?P="):
			if j := strings.IndexByte(p[i:], ')'); j > 0 {
				sb.WriteString(`\k<` + p[i+4:i+j] + ">")
				i += j + 1
				continue
			}
		case c == '$':
			sb.WriteString(`$`)
			i++
			continue
		}
		_, n := utf8.DecodeRuneInString(p[i:])
		sb.WriteString(p[i : i+n])
		i += n
	}
	return sb.String()
}
