package source_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"whittle/capture/python/vm"
	"whittle/capture/source"
	"whittle/tools/whittle/stack"
)

// script makes what the sources of the tests read. It runs with torch's interpreter, as modules are read from there.
const script = `
class A:
    k = 3
    def __init__(self):
        self.own = 4
class L(list):
    pass
class D(dict):
    def __missing__(self, key):
        raise AssertionError("a key was made up")
a, n, t, d, b = A(), 7, (1, 2), D(p=5, q=6), L([8])
key = "q"
`

func TestSources(t *testing.T) {
	s := stack.New(context.Background(), t.TempDir())
	if err := s.In.RunSource("script.py", script); err != nil {
		t.Fatal(err)
	}
	main, _ := s.In.Modules.GetStr("__main__")
	globals := main.(*vm.Module).Dict
	get := func(name string) vm.Object {
		v, ok := globals.GetStr(name)
		if !ok {
			t.Fatalf("no %s", name)
		}
		return v
	}
	e := &source.Env{In: s.In, Locals: map[string]vm.Object{}, Globals: globals}
	for _, name := range []string{"a", "n", "t", "d", "b"} {
		e.Locals[name] = get(name)
	}
	e.AddCell("c", &vm.Cell{V: vm.MakeInt(9)})
	a, d := source.Local{Var: "a"}, source.Local{Var: "d"}
	for _, c := range []struct {
		src        source.Source
		name, want string // want is the repr of what is read; "error: ..." for what is not there
		base       source.Source
	}{
		{source.Local{Var: "n"}, "L['n']", "7", nil},
		{source.Local{Var: "z"}, "L['z']", "error: local z is unbound", nil},
		{source.Global{Var: "t"}, "G['t']", "(1, 2)", nil},
		{source.Global{Var: "z"}, "G['z']", "error: global z is undefined", nil},
		{source.Import{Module: "os.path"}, "G['__import_os_dot_path']", "<module", nil},
		{source.Builtin{Dict: "__builtins_dict__0", Var: "len"}, "G['__builtins_dict__0']['len']", "<built-in function len>", nil},
		{source.Builtin{Dict: "b", Var: "z"}, "G['b']['z']", "error: builtin z is gone", nil},
		{source.Cell{Var: "c"}, "L['c'].__cell__", "<cell", nil},
		{source.Cell{Var: "z"}, "L['z'].__cell__", "error: no cell of z in this frame", nil},
		{source.Fixed{Value: vm.MakeInt(3), N: 2}, "___fixed_2", "3", nil},
		{source.Attr{Base: a, Of: "own"}, "L['a'].own", "4", a},
		{source.Attr{Base: a, Of: "k"}, "L['a'].k", "3", a},
		{source.Attr{Base: a, Of: "z"}, "L['a'].z", "error: AttributeError", a},
		{source.Item{Base: source.Local{Var: "t"}, Key: vm.MakeInt(1), Text: "1"}, "L['t'][1]", "2", source.Local{Var: "t"}},
		{source.Item{Base: d, Key: vm.Str("p"), Text: "'p'"}, "L['d']['p']", "5", d},
		{source.Keyed{Base: d, Key: source.Global{Var: "key"}}, "L['d'][G['key']]", "6", d},
		{source.Keyed{Base: d, Key: source.Local{Var: "n"}}, "L['d'][L['n']]", "error: L['d'][L['n']] is gone", d},
		{source.Keyed{Base: a, Key: source.Global{Var: "key"}}, "L['a'][G['key']]", "error: L['a'] is no dict", a},
		{source.Value{Base: d, I: 1}, "L['d'][list(L['d'].keys())[1]]", "6", d},
		{source.Value{Base: d, I: 2}, "L['d'][list(L['d'].keys())[2]]", "error: L['d'][list(L['d'].keys())[2]] is gone", d},
		{source.Placed{Source: source.Item{Base: d, Key: vm.Str("p"), Text: "'p'"}, I: 0}, "L['d'][list(L['d'].keys())[0]]", "5", d},
		{source.Class{Base: a}, "type(L['a'])", "<class '__main__.A'>", a},
		{source.Inherited{Base: a, I: 0, Of: "k"}, "type(L['a']).__mro__[0].k", "3", a},
		{source.Inherited{Base: a, I: 5, Of: "k"}, "type(L['a']).__mro__[5].k", "error: type(L['a']).__mro__[5].k is gone", a},
		{source.Native{Base: source.Local{Var: "b"}}, "L['b']", "[8]", source.Local{Var: "b"}},
		{source.Native{Base: source.Local{Var: "n"}}, "L['n']", "error: L['n'] holds no built-in value", source.Local{Var: "n"}},
		{source.Module{Base: a, Kind: source.UserModule}, "L['a']", "<__main__.A object", a},
	} {
		got := ""
		v, err := c.src.Get(e)
		if err != nil {
			got = "error: " + err.Error()
		} else if got, err = s.In.Repr(v); err != nil {
			t.Fatal(err)
		}
		if c.src.Name() != c.name || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s gives %s, want %s that gives %s", c.src.Name(), got, c.name, c.want)
		}
		if d := cmp.Diff(c.base, source.Base(c.src)); d != "" {
			t.Errorf("%s: base (-want +got):\n%s", c.name, d)
		}
	}
}

// The order of guards: nothing, locals, globals, what lies in modules; shorter names first.
func TestOrder(t *testing.T) {
	x, g := source.Local{Var: "x"}, source.Global{Var: "g"}
	user := source.Attr{Base: source.Module{Base: source.Local{Var: "m"}, Kind: source.UserModule}, Of: "k"}
	userGlobal := source.Attr{Base: source.Module{Base: g, Kind: source.UserModule}, Of: "k"}
	library := source.Attr{Base: source.Module{Base: source.Local{Var: "m"}, Kind: source.LibraryModule}, Of: "k"}
	want := []source.Source{nil, x, source.Local{Var: "y"}, source.Attr{Base: x, Of: "a"}, g, source.Fixed{N: 1}, user, userGlobal, library}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, func(a, b source.Source) int {
		if source.Less(a, b) {
			return -1
		}
		return 1
	})
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	for _, c := range []struct {
		src                  source.Source
		local, fixed, module bool
	}{
		{x, true, false, false}, {g, false, false, false}, {user, true, false, true}, {userGlobal, false, false, true},
		{source.Attr{Base: source.Fixed{N: 1}, Of: "a"}, false, true, false},
	} {
		if got := [3]bool{source.IsLocal(c.src), source.IsFixed(c.src), source.InModule(c.src)}; got != [3]bool{c.local, c.fixed, c.module} {
			t.Errorf("%s: local, fixed, in a module: %v", c.src.Name(), got)
		}
	}
}
