package stdlib

import (
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/bidi"
	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/width"

	"whittle/capture/python/charnames"
	"whittle/capture/python/vm"
)

// categories are the general categories that characters are searched in.
var categories = strings.Fields("Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Co Cs")

func category(r rune) string {
	for _, c := range categories {
		if unicode.Is(unicode.Categories[c], r) {
			return c
		}
	}
	return "Cn"
}

// decimalDigit is the value of a decimal digit. Those of a script lie one behind the other, from 0 to 9.
func decimalDigit(r rune) (int64, bool) {
	for _, t := range unicode.Nd.R16 {
		if r >= rune(t.Lo) && r <= rune(t.Hi) {
			return int64(r-rune(t.Lo)) % 10, true
		}
	}
	for _, t := range unicode.Nd.R32 {
		if r >= rune(t.Lo) && r <= rune(t.Hi) {
			return int64(r-rune(t.Lo)) % 10, true
		}
	}
	return 0, false
}

var bidiNames = map[bidi.Class]string{bidi.L: "L", bidi.R: "R", bidi.EN: "EN", bidi.ES: "ES", bidi.ET: "ET", bidi.AN: "AN", bidi.CS: "CS", bidi.B: "B", bidi.S: "S",
	bidi.WS: "WS", bidi.ON: "ON", bidi.BN: "BN", bidi.NSM: "NSM", bidi.AL: "AL", bidi.LRO: "LRO", bidi.RLO: "RLO", bidi.LRE: "LRE", bidi.RLE: "RLE", bidi.PDF: "PDF",
	bidi.LRI: "LRI", bidi.RLI: "RLI", bidi.FSI: "FSI", bidi.PDI: "PDI"}

var widthNames = map[width.Kind]string{width.Neutral: "N", width.EastAsianAmbiguous: "A", width.EastAsianWide: "W", width.EastAsianNarrow: "Na",
	width.EastAsianFullwidth: "F", width.EastAsianHalfwidth: "H"}

var normForms = map[string]norm.Form{"NFC": norm.NFC, "NFD": norm.NFD, "NFKC": norm.NFKC, "NFKD": norm.NFKD}

// unicodedataModule is unicodedata, as far as Go's own tables go: no decomposition tags and no fractions.
func unicodedataModule(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("unicodedata", "Access to the Unicode Character Database.")
	m.Set("unidata_version", vm.Str("14.0.0"))
	char := func(in *vm.Interp, name string, o vm.Object) (rune, error) {
		s, ok := vm.AsStr(o)
		if rs := []rune(s); ok && len(rs) == 1 {
			return rs[0], nil
		} else if ok {
			return 0, in.Errorf(in.Exc.TypeError, "%s() argument must be a unicode character, not a string of length %d", name, len(rs))
		}
		return 0, in.Errorf(in.Exc.TypeError, "%s() argument must be a unicode character, not %s", name, o.Type().Name)
	}
	text := func(name string, f func(r rune) string) {
		m.FuncN(name, 1, 1, func(in *vm.Interp, a []vm.Object) (vm.Object, error) {
			r, err := char(in, name, a[0])
			if err != nil {
				return nil, err
			}
			return vm.Str(f(r)), nil
		})
	}
	text("category", category)
	text("bidirectional", func(r rune) string {
		p, _ := bidi.LookupRune(r)
		return bidiNames[p.Class()]
	})
	text("east_asian_width", func(r rune) string { return widthNames[width.LookupRune(r).Kind()] })
	text("decomposition", func(r rune) string {
		var parts []string
		for _, d := range string(norm.NFD.Bytes([]byte(string(r)))) {
			parts = append(parts, fmt.Sprintf("%04X", d))
		}
		if len(parts) < 2 {
			return ""
		}
		return strings.Join(parts, " ")
	})
	m.FuncN("combining", 1, 1, func(in *vm.Interp, a []vm.Object) (vm.Object, error) {
		r, err := char(in, "combining", a[0])
		if err != nil {
			return nil, err
		}
		return vm.MakeInt(int64(norm.NFC.PropertiesString(string(r)).CCC())), nil
	})
	m.FuncN("mirrored", 1, 1, func(in *vm.Interp, a []vm.Object) (vm.Object, error) {
		r, err := char(in, "mirrored", a[0])
		if err != nil {
			return nil, err
		}
		if unicode.Is(unicode.Bidi_Control, r) {
			return vm.MakeInt(0), nil
		}
		p, _ := bidi.LookupRune(r)
		if p.IsBracket() || r == '<' || r == '>' || r == '«' || r == '»' {
			return vm.MakeInt(1), nil
		}
		return vm.MakeInt(0), nil
	})
	number := func(name, missing string, f func(in *vm.Interp, r rune) (vm.Object, error)) {
		m.FuncN(name, 1, 2, func(in *vm.Interp, a []vm.Object) (vm.Object, error) {
			r, err := char(in, name, a[0])
			if err != nil {
				return nil, err
			}
			v, err := f(in, r)
			if v == nil && err == nil {
				if len(a) > 1 {
					return a[1], nil
				}
				return nil, in.Errorf(in.Exc.ValueError, "%s", missing)
			}
			return v, err
		})
	}
	value := func(_ *vm.Interp, r rune) (vm.Object, error) {
		for _, f := range []string{string(r), norm.NFKD.String(string(r))} {
			if rs := []rune(f); len(rs) == 1 {
				if d, ok := decimalDigit(rs[0]); ok {
					return vm.MakeInt(d), nil
				}
			}
		}
		return nil, nil
	}
	number("decimal", "not a decimal", func(in *vm.Interp, r rune) (vm.Object, error) {
		if !unicode.Is(unicode.Nd, r) {
			return nil, nil
		}
		return value(in, r)
	})
	number("digit", "not a digit", value)
	number("numeric", "not a numeric character", func(in *vm.Interp, r rune) (vm.Object, error) {
		v, err := value(in, r)
		if v == nil || err != nil {
			return v, err
		}
		return in.Call(vm.FloatType, []vm.Object{v}, nil)
	})
	number("name", "no such name", func(_ *vm.Interp, r rune) (vm.Object, error) {
		if n := charnames.Name(r); n != "" {
			return vm.Str(n), nil
		}
		return nil, nil
	})
	m.FuncN("lookup", 1, 1, func(in *vm.Interp, a []vm.Object) (vm.Object, error) {
		r, ok := charnames.Named(str(a[0]))
		if !ok {
			return nil, in.KeyError(vm.Str("undefined character name '" + str(a[0]) + "'"))
		}
		return vm.Str(string(r)), nil
	})
	form := func(name string, f func(n norm.Form, s string) vm.Object) {
		m.FuncN(name, 2, 2, func(in *vm.Interp, a []vm.Object) (vm.Object, error) {
			n, ok := normForms[str(a[0])]
			if !ok {
				return nil, in.Errorf(in.Exc.ValueError, "invalid normalization form")
			}
			s, ok := vm.AsStr(a[1])
			if !ok {
				return nil, in.Errorf(in.Exc.TypeError, "%s() argument 2 must be str, not %s", name, a[1].Type().Name)
			}
			return f(n, s), nil
		})
	}
	form("normalize", func(n norm.Form, s string) vm.Object { return vm.Str(n.String(s)) })
	form("is_normalized", func(n norm.Form, s string) vm.Object { return vm.MakeBool(n.IsNormalString(s)) })
	return m, nil
}
