package stdlib

import (
	"math"
	"strings"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// localeModule is _locale. There is one locale, C with UTF-8: what Go formats does not depend on the machine.
func localeModule(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("_locale", "")
	for i, n := range []string{"LC_CTYPE", "LC_NUMERIC", "LC_TIME", "LC_COLLATE", "LC_MONETARY", "LC_MESSAGES", "LC_ALL"} {
		m.Set(n, vm.MakeInt(int64(i)))
	}
	m.Set("CHAR_MAX", vm.Int(math.MaxInt8))
	m.Set("CODESET", vm.Int(14))
	m.Set("RADIXCHAR", vm.Int(0x10000))
	m.Set("THOUSEP", vm.Int(0x10001))
	failed := in.NewNativeType(vm.Spec{Name: "Error", Module: "locale", Bases: []*vm.Type{in.Exc.Exception}})
	m.Set("Error", failed)
	clinic.Def(m, "getencoding", "", func(*clinic.Call) (vm.Object, error) { return vm.Str("UTF-8"), nil })
	clinic.Def(m, "setlocale", "category:int, locale=None, /", func(c *clinic.Call) (vm.Object, error) {
		if n := c.Int(0); n < 0 || n > 6 {
			return nil, c.RaiseObj(failed, vm.Str("invalid locale category"))
		}
		if c.None(1) {
			return vm.Str("C.UTF-8"), nil
		}
		name, ok := vm.AsStr(c.Args[1])
		if !ok {
			return nil, c.Errorf(c.Exc.TypeError, "setlocale() argument 2 must be str or None, not %s", vm.ArgName(c.Args[1]))
		}
		switch strings.ToLower(name) {
		case "c", "posix":
			return vm.Str(name), nil
		case "", "c.utf-8", "c.utf8":
			return vm.Str("C.UTF-8"), nil
		}
		return nil, c.RaiseObj(failed, vm.Str("unsupported locale setting"))
	})
	clinic.Def(m, "localeconv", "", func(*clinic.Call) (vm.Object, error) {
		d := vm.NewDict()
		for _, n := range []string{"int_curr_symbol", "currency_symbol", "mon_decimal_point", "mon_thousands_sep", "positive_sign", "negative_sign", "thousands_sep"} {
			d.SetStr(n, vm.Str(""))
		}
		for _, n := range []string{"int_frac_digits", "frac_digits", "p_cs_precedes", "p_sep_by_space", "n_cs_precedes", "n_sep_by_space", "p_sign_posn", "n_sign_posn"} {
			d.SetStr(n, vm.Int(math.MaxInt8))
		}
		d.SetStr("decimal_point", vm.Str("."))
		d.SetStr("grouping", &vm.List{})
		d.SetStr("mon_grouping", &vm.List{})
		return d, nil
	})
	clinic.Def(m, "strcoll", "os1:str, os2:str, /", func(c *clinic.Call) (vm.Object, error) {
		return vm.MakeInt(int64(strings.Compare(c.Str(0), c.Str(1)))), nil
	})
	clinic.Def(m, "strxfrm", "string:str, /", func(c *clinic.Call) (vm.Object, error) { return c.Args[0], nil })
	clinic.Def(m, "nl_langinfo", "key:int, /", func(c *clinic.Call) (vm.Object, error) {
		v, ok := map[int64]string{14: "UTF-8", 0x10000: ".", 0x10001: ""}[c.Int(0)]
		if !ok {
			return nil, c.Errorf(c.Exc.ValueError, "unsupported langinfo constant")
		}
		return vm.Str(v), nil
	})
	return m, nil
}
