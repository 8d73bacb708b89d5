package effects_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"whittle/capture/effects"
	"whittle/capture/python/vm"
)

// text is how Python writes contents.
func text(t *testing.T, in *vm.Interp, items []vm.Object) []string {
	t.Helper()
	out := []string{}
	for _, x := range items {
		if x == nil {
			out = append(out, "NULL")
			continue
		}
		r, err := in.Repr(x)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

// program runs Python and gives its variables.
func program(t *testing.T, src string) (*vm.Interp, func(name string) vm.Object) {
	t.Helper()
	in := vm.New()
	if err := in.RunSource("script.py", src); err != nil {
		t.Fatal(err)
	}
	m, ok := in.Modules.GetStr("__main__")
	if !ok {
		t.Fatal("no __main__")
	}
	return in, func(name string) vm.Object {
		v, ok := m.(*vm.Module).Dict.GetStr(name)
		if !ok {
			t.Fatalf("no %s", name)
		}
		return v
	}
}

// Every kind of object: what a write changes, and that Undo takes it back.
func TestWritesAreUndone(t *testing.T) {
	for _, c := range []struct {
		name, make, write string
		before, after     []string
		changed           bool
	}{
		{"a list", "o = [1, 2]", "o.append(3); o[0] = 0", []string{"1", "2"}, []string{"0", "2", "3"}, true},
		{"a list that stays", "o = [1, 2]", "o.append(3); o.pop()", []string{"1", "2"}, []string{"1", "2"}, false},
		{"a dict", "o = {'a': 1, 'b': 2}", "del o['a']; o['a'] = 1", []string{"'a'", "1", "'b'", "2"}, []string{"'b'", "2", "'a'", "1"}, true},
		{"an instance", "class C: pass\no = C(); o.x = 1", "o.x = 2; o.y = 3", []string{"'x'", "1"}, []string{"'x'", "2", "'y'", "3"}, true},
		{"an instance without attributes", "class C: pass\no = C()", "o.x = 1", []string{}, []string{"'x'", "1"}, true},
		{"a dict of its own class, which is two objects", "class D(dict): pass\no = D(a=1)", "o['b'] = 2", []string{}, []string{}, false},
		{"an object that is never kept", "o = (1, 2)", "", []string{}, []string{}, false},
	} {
		in, get := program(t, c.make+"\ndef write():\n    "+c.write+"\n    return\n")
		l, o := effects.New(in), get("o")
		if _, isTuple := o.(*vm.Tuple); l.Save(o) == isTuple || l.Save(o) {
			t.Errorf("%s: Save says the wrong thing of the first and of the second time", c.name)
		}
		if _, err := in.Call(get("write"), nil, nil); err != nil {
			t.Fatal(err)
		}
		before, _ := l.Before(o)
		if diff := cmp.Diff(c.before, text(t, in, before)); diff != "" {
			t.Errorf("%s: before: %s", c.name, diff)
		}
		if diff := cmp.Diff(c.after, text(t, in, effects.Contents(o))); diff != "" {
			t.Errorf("%s: after: %s", c.name, diff)
		}
		if l.Changed() != c.changed {
			t.Errorf("%s: changed %v", c.name, l.Changed())
		}
		l.Undo()
		if diff := cmp.Diff(c.before, text(t, in, effects.Contents(o))); diff != "" {
			t.Errorf("%s: undone: %s", c.name, diff)
		}
	}
}

func TestGlobals(t *testing.T) {
	in, get := program(t, "a = 1\ndef write():\n    global a, b\n    a, b = 2, 3\ng = globals()")
	l, g := effects.New(in), get("g").(*vm.Dict)
	for _, name := range []string{"a", "b", "a"} {
		l.StoreGlobal(g, name)
	}
	if _, err := in.Call(get("write"), nil, nil); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range l.Changes() {
		names = append(names, c.Global.Name)
	}
	if diff := cmp.Diff([]string{"a", "b"}, names); diff != "" || !l.Changed() || !l.WroteGlobal(g, "a") || l.WroteGlobal(g, "g") {
		t.Errorf("changes: %s", diff)
	}
	l.Undo()
	if _, there := g.GetStr("b"); there || get("a") != vm.MakeInt(1) {
		t.Errorf("after Undo a is %v and b is there: %v", get("a"), there)
	}
}

// What guards ask: the log answers for the time before the trace, whatever the trace wrote.
func TestBefore(t *testing.T) {
	in, get := program(t, `
class C: pass
class D(dict): pass
l, d, i, e = [1, 2], {'k': 1}, C(), D(k=1)
i.x = 1
odd = {(): 1}
def write():
    l.insert(0, 0); d['n'] = 2; del d['k']; i.y = 2; del i.x; e['n'] = 2
`)
	l := effects.New(in)
	for _, name := range []string{"l", "d", "i", "e", "odd"} {
		l.Save(get(name))
	}
	l.Save(get("e").(*vm.Instance).Native.(vm.Object))
	if _, err := in.Call(get("write"), nil, nil); err != nil {
		t.Fatal(err)
	}
	one, two, k := vm.MakeInt(1), vm.MakeInt(2), vm.Str("k")
	inst := get("i").(*vm.Instance)
	keys := func(name string) bool {
		ks, ok := l.Keys(get(name), func(vm.Object) bool { return false })
		return ok && len(ks) == 1 && ks[0] == vm.Object(k)
	}
	for _, c := range []struct {
		name      string
		got, want bool
	}{
		{"l[0] was 1", l.Held(get("l"), vm.MakeInt(0), one), true},
		{"l[-1] was 2", l.Held(get("l"), vm.MakeInt(-1), two), true},
		{"l[2] was nothing", l.Held(get("l"), vm.MakeInt(2), two), false},
		{"d['k'] was 1", l.Held(get("d"), k, one), true},
		{"d['n'] was nothing", l.Held(get("d"), vm.Str("n"), two), false},
		{"a tuple holds what it holds", l.Held(vm.NewTuple(one), vm.MakeInt(0), one), true},
		{"i had x", l.Lacked(inst, "x"), false},
		{"i lacked y", l.Lacked(inst, "y"), true},
		{"i.y is new", l.HadAttr(inst, "y", two), false},
		{"the keys of d were k", keys("d"), true},
		{"those of a dict of its own class, too", keys("e"), true},
		{"keys that are no constants are not told", keys("odd"), false},
		{"an instance has no keys", keys("i"), false},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v", c.name, c.got)
		}
	}
}

func TestAccept(t *testing.T) {
	in, get := program(t, "l, d = [1], {}\ndef ahead(): l.append(2); d['k'] = 1")
	l := effects.New(in)
	l.Save(get("l"))
	failed := errors.New("failed")
	_, err := l.Accept(func() (vm.Object, error) {
		_, _ = in.Call(get("ahead"), nil, nil)
		return nil, failed
	})
	if err != failed {
		t.Errorf("Accept gave %v", err)
	}
	l.Undo()
	if diff := cmp.Diff([]string{"1", "2"}, text(t, in, effects.Contents(get("l")))); diff != "" || l.Changed() {
		t.Errorf("what was accepted is undone: %s", diff)
	}
}

func TestEntries(t *testing.T) {
	list := func(s string) []vm.Object {
		out := []vm.Object{}
		for _, r := range s {
			out = append(out, vm.Str(string(r)))
		}
		return out
	}
	for _, c := range []struct{ name, before, now, drop, set string }{
		{"nothing", "a1b2", "a1b2", "", ""},
		{"a new value", "a1b2", "a3b2", "", "a3"},
		{"a new key", "a1", "a1b2", "", "b2"},
		{"a key less", "a1b2", "b2", "a", ""},
		{"another order", "a1b2", "b2a1", "a", "a1"},
		{"a key taken out and put back", "a1b2c3", "a1c3b2", "b", "b2"},
		{"all new", "a1", "b2", "a", "b2"},
	} {
		drop, set := effects.Entries(list(c.before), list(c.now))
		in := vm.New()
		d := vm.NewDict()
		effects.Replace(in, d, list(c.before))
		for _, k := range drop {
			if _, err := d.Del(in, k); err != nil {
				t.Fatal(err)
			}
		}
		for i := 0; i+1 < len(set); i += 2 {
			if err := d.Set(in, set[i], set[i+1]); err != nil {
				t.Fatal(err)
			}
		}
		if !effects.SameItems(effects.Pairs(d), list(c.now)) && len(c.now) > 0 {
			t.Errorf("%s: the entries make %v", c.name, effects.Pairs(d))
		}
		if diff := cmp.Diff([][]vm.Object{list(c.drop), list(c.set)}, [][]vm.Object{append([]vm.Object{}, drop...), append([]vm.Object{}, set...)}); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}
