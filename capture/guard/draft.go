package guard

import (
	"sort"

	"whittle/capture/python/vm"
	"whittle/capture/source"
)

// Draft collects the guards of one trace. Only the trace changes it, and only until NewSet has made a Set of it.
type Draft struct {
	list     []*Guard
	seen     map[string]bool      // kind and expression of each guard
	values   map[string]vm.Object // what was guarded, by the name of its source
	tensors  []source.Source      // those whose identities must differ
	keyOrder []source.Source      // dicts whose order of keys the trace relied on
	ordered  map[string]bool
	place    func() Place
	covert   bool                // guards made now are hidden
	unshown  map[string][]*Guard // those that were, by the names of their sources
}

// NewDraft is an empty draft. place says where the trace is; nil => nowhere.
func NewDraft(place func() Place) *Draft {
	return &Draft{seen: map[string]bool{}, values: map[string]vm.Object{}, unshown: map[string][]*Guard{}, ordered: map[string]bool{}, place: place}
}

// Add keeps guards that the draft has not. A guard that is made covertly, or on what starts at a fixed object, is hidden.
func (d *Draft) Add(gs ...*Guard) {
	for _, g := range gs {
		g.Hidden = g.Hidden || d.covert || g.Source != nil && source.IsFixed(g.Source)
		if !d.first(g.Kind.String() + " " + g.Expr) {
			continue
		}
		if d.covert && g.Source != nil {
			d.unshown[g.Source.Name()] = append(d.unshown[g.Source.Name()], g)
		}
		d.list = append(d.list, g)
		if d.place != nil && g.made.Code == nil {
			g.made = d.place()
		}
	}
}

// first reports whether it is asked for a key for the first time.
func (d *Draft) first(key string) bool {
	known := d.seen[key]
	d.seen[key] = true
	return !known
}

// AddAnew keeps a guard even if the draft has one like it. Logs show it without a place.
func (d *Draft) AddAnew(g *Guard) { d.list = append(d.list, g) }

// AddTwice keeps a guard on two objects unless the draft has it. Both carry it: it fails on the one that is looked at last.
func (d *Draft) AddTwice(g *Guard) {
	if d.first("twice " + g.Kind.String() + " " + g.Expr) {
		d.list = append(d.list, g, g)
	}
}

// AddAlias keeps the guard that first and again are one object, unless the draft has it, or its like the other way about, or
// guards again already.
func (d *Draft) AddAlias(first, again source.Source) {
	a, b := first.Name(), again.Name()
	if d.seen["alias "+b+" is "+a] {
		return
	}
	if d.seen["alias "+a+" is "+b] {
		d.Show(b)
		return
	}
	if _, guarded := d.values[b]; guarded {
		return
	}
	d.seen["alias "+a+" is "+b] = true
	g := OneObject(first, again)
	fixed := source.IsFixed(first) || source.IsFixed(again)
	g.Hidden = d.covert || fixed
	if d.covert && !fixed {
		d.unshown[b] = append(d.unshown[b], g)
	}
	d.AddTwice(g)
}

// Value is what was guarded at the source of this name; ok is false where nothing was.
func (d *Draft) Value(name string) (v vm.Object, ok bool) {
	v, ok = d.values[name]
	return v, ok
}

// SetValue notes that v is guarded at the source of this name.
func (d *Draft) SetValue(name string, v vm.Object) { d.values[name] = v }

// Covertly runs f with guards made that logs do not show.
func (d *Draft) Covertly(f func()) {
	old := d.covert
	d.covert = true
	defer func() { d.covert = old }()
	f()
}

// Show lets logs print the guards on a source that were made covertly, as now the program has read it; it does nothing while
// guards are made covertly.
func (d *Draft) Show(name string) {
	if d.covert {
		return
	}
	for _, g := range d.unshown[name] {
		if !g.Kind.row().own {
			g.Hidden = false
		}
	}
	delete(d.unshown, name)
}

// Distinct notes that the tensor at src must stay another than all others that are noted.
func (d *Draft) Distinct(src source.Source) { d.tensors = append(d.tensors, src) }

// Order notes that the trace walked the keys of the dict at src.
func (d *Draft) Order(src source.Source) {
	if n := src.Name(); !d.ordered[n] {
		d.ordered[n] = true
		d.keyOrder = append(d.keyOrder, src)
	}
}

// Ordered are the guards of a trace that has ended, in PyTorch's order. keys gives the keys that a dict had before the trace, and
// how Python writes them; ok is false unless all are constants.
func (d *Draft) Ordered(keys func(dict vm.Object) (keys []vm.Object, reprs []string, ok bool)) []*Guard {
	list := append([]*Guard(nil), d.list...)
	for _, src := range d.keyOrder {
		v, guarded := d.values[src.Name()]
		if !guarded {
			continue
		}
		ks, reprs, ok := keys(v)
		if !ok {
			continue
		}
		for _, g := range list {
			if g.Kind == DictLength && g.Source != nil && g.Source.Name() == src.Name() {
				g.Hidden = true // the guards on the keys print it
			}
		}
		list = append(list, KeysInOrder(ks, reprs, src)...)
	}
	sort.SliceStable(list, func(i, j int) bool { return source.Less(list[i].Source, list[j].Source) })
	if len(d.tensors) > 1 {
		list = append(list, distinctTensors(d.tensors)...)
	}
	return list
}
