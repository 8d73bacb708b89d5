package vm

import (
	"math"
	"math/big"
)

// dictEntry is a key with its hash and its value, of a dict or a set.
type dictEntry struct {
	hash uint64
	key  Object // nil: deleted
	val  Object
}

// Dict is a hash table that keeps the order of insertion.
type Dict struct {
	entries []dictEntry
	index   []int32 // open addressing into entries; nil while there are few; -1 free, -2 deleted
	live    int
	keysVer uint32 // grows when a key is added or removed
	valsVer uint32 // grows when a key gets another value
	filter  uint64 // has bit hash%64 of every key that is or was there
	odd     bool   // some key is an instance of a class, perhaps a subclass of str
}

// isStrKey reports whether a key that is not a Str equals one.
func isStrKey(k Object, s string) bool {
	i, ok := k.(*Instance)
	if !ok {
		return false
	}
	t, ok := i.Native.(Str)
	return ok && string(t) == s
}

const smallDict = 8

// NewDict makes an empty dict.
func NewDict() *Dict { return &Dict{} }

// newDict makes an empty dict that may get n items or more; room for few lies beside it, in one piece of memory.
func newDict(n int) *Dict {
	switch {
	case n <= 0:
		return &Dict{}
	case n <= 2:
		p := &struct {
			d       Dict
			entries [2]dictEntry
		}{}
		p.d.entries = p.entries[:0]
		return &p.d
	}
	return &Dict{entries: make([]dictEntry, 0, min(n, smallDict))}
}

// Version is another one after every change of the dict.
func (d *Dict) Version() uint64 { return uint64(d.keysVer)<<32 | uint64(d.valsVer) }

// Len counts the items.
func (d *Dict) Len() int { return d.live }

const hashMod = 1<<61 - 1

// hashInt is CPython's hash of an integer, the value modulo 2**61-1 with its sign; -1 says "error" in CPython's C and is therefore no hash.
func hashInt(i int64) uint64 {
	if i >= 0 {
		return uint64(i % hashMod)
	}
	h := -(-i % hashMod)
	if i == math.MinInt64 {
		h = -4
	}
	if h == -1 {
		h = -2
	}
	return uint64(h)
}

// hashBig is hashInt of an integer of any size.
func hashBig(b *big.Int) uint64 {
	m := new(big.Int).Mod(new(big.Int).Abs(b), big.NewInt(hashMod)).Int64()
	if b.Sign() < 0 {
		m = -m
	}
	if m == -1 {
		m = -2
	}
	return uint64(m)
}

// hashFloat is CPython's hash of a float, equal to that of an integer or a fraction of the same value.
func hashFloat(f float64) uint64 {
	if f == math.Trunc(f) && math.Abs(f) < 1<<62 {
		return hashInt(int64(f))
	}
	switch {
	case math.IsInf(f, 1):
		return 314159
	case math.IsInf(f, -1):
		n := int64(-314159)
		return uint64(n)
	case math.IsNaN(f):
		return 0
	}
	// CPython's rule: the value modulo 2**61-1.
	m, e := math.Frexp(f)
	sign := int64(1)
	if m < 0 {
		sign, m = -1, -m
	}
	var x uint64
	for m != 0 {
		x = (x<<28)&hashMod | x>>33
		m *= 268435456
		e -= 28
		y := uint64(m)
		m -= float64(y)
		x += y
		if x >= hashMod {
			x -= hashMod
		}
	}
	if e >= 0 {
		e %= 61
	} else {
		e = 60 - (-1-e)%61
	}
	x = (x<<uint(e))&hashMod | x>>uint(61-e)
	r := int64(x) * sign
	if r == -1 {
		r = -2
	}
	return uint64(r)
}

// findStr is find for a plain string, which needs no code of Python to compare: the entry's place, or -1.
func (d *Dict) findStr(s string, h uint64) int {
	if d.filter&(1<<(h&63)) == 0 {
		return -1
	}
	if d.index == nil {
		for i := range d.entries {
			e := &d.entries[i]
			if e.hash == h {
				if k, ok := e.key.(Str); ok && string(k) == s {
					return i
				}
				if d.odd && isStrKey(e.key, s) {
					return i
				}
			}
		}
		return -1
	}
	mask := uint64(len(d.index) - 1)
	for i := mix(h) & mask; ; i = (i + 1) & mask {
		j := d.index[i]
		if j == -1 {
			return -1
		}
		if j >= 0 {
			e := &d.entries[j]
			if e.hash == h {
				if k, ok := e.key.(Str); ok && string(k) == s {
					return int(j)
				}
				if d.odd && isStrKey(e.key, s) {
					return int(j)
				}
			}
		}
	}
}

func mix(h uint64) uint64 { return h ^ h>>29 ^ h>>47 }

// find gives the place of a key among the entries, -1 if it is not there. Comparing keys may run any __eq__, which may change this very
// dict: places are taken anew after each.
func (d *Dict) find(in *Interp, key Object, h uint64) (int, error) {
	if d.filter&(1<<(h&63)) == 0 {
		return -1, nil
	}
	if d.index == nil {
		for i := range d.entries {
			e := &d.entries[i]
			if e.hash == h && e.key != nil {
				version := d.keysVer
				ok, err := sameKey(in, e.key, key)
				if err != nil {
					return -1, err
				}
				if d.keysVer != version { // __eq__ changed the dict
					return d.find(in, key, h)
				}
				if ok {
					return i, nil
				}
			}
		}
		return -1, nil
	}
	mask := uint64(len(d.index) - 1)
	for i := mix(h) & mask; ; i = (i + 1) & mask {
		j := d.index[i]
		if j == -1 {
			return -1, nil
		}
		if j >= 0 && d.entries[j].hash == h {
			version := d.keysVer
			ok, err := sameKey(in, d.entries[j].key, key)
			if err != nil {
				return -1, err
			}
			if d.keysVer != version { // __eq__ changed the dict
				return d.find(in, key, h)
			}
			if ok {
				return int(j), nil
			}
		}
	}
}

// sameKey is identity or equality.
func sameKey(in *Interp, a, b Object) (bool, error) {
	switch x := a.(type) {
	case Str:
		if y, ok := b.(Str); ok {
			return x == y, nil
		}
	case Int:
		if y, ok := b.(Int); ok {
			return x == y, nil
		}
	case *Type, *NoneType, *Function:
		if a == b {
			return true, nil
		}
	}
	if Is(a, b) {
		return true, nil
	}
	return in.Eq(a, b)
}

// insert adds a key that is not there, at the end of the entries.
func (d *Dict) insert(h uint64, key, val Object) {
	d.keysVer++
	d.filter |= 1 << (h & 63)
	if _, ok := key.(*Instance); ok {
		d.odd = true
	}
	if len(d.entries) == cap(d.entries) && d.live < len(d.entries)/2 && len(d.entries) > 16 {
		d.compact()
	}
	d.entries = append(d.entries, dictEntry{h, key, val})
	d.live++
	n := len(d.entries)
	if d.index == nil {
		if n > smallDict {
			d.rehash()
		}
		return
	}
	if n*3 > len(d.index)*2 {
		d.rehash()
		return
	}
	mask := uint64(len(d.index) - 1)
	i := mix(h) & mask
	for d.index[i] >= 0 {
		i = (i + 1) & mask
	}
	d.index[i] = int32(n - 1)
}

// compact closes the gaps that removed entries left, in place.
func (d *Dict) compact() {
	out := d.entries[:0]
	for _, e := range d.entries {
		if e.key != nil {
			out = append(out, e)
		}
	}
	clear(d.entries[len(out):])
	d.entries = out
	d.rehash()
}

// rehash builds the index anew, with room for half as many entries again, and closes gaps where they are the most of the entries.
func (d *Dict) rehash() {
	if d.live < len(d.entries) && d.index == nil || d.live < len(d.entries)/2 {
		out := make([]dictEntry, 0, d.live*2+4)
		for _, e := range d.entries {
			if e.key != nil {
				out = append(out, e)
			}
		}
		d.entries = out
		if len(out) <= smallDict {
			d.index = nil
			return
		}
	}
	size := 16
	for size*2 < len(d.entries)*4 {
		size *= 2
	}
	d.index = make([]int32, size)
	for i := range d.index {
		d.index[i] = -1
	}
	mask := uint64(size - 1)
	for j := range d.entries {
		if d.entries[j].key == nil {
			continue
		}
		i := mix(d.entries[j].hash) & mask
		for d.index[i] >= 0 {
			i = (i + 1) & mask
		}
		d.index[i] = int32(j)
	}
}

// remove takes out the entry at place j. A gap stays: the index holds, and who walks through the dict stands where it stood.
func (d *Dict) remove(j int) {
	d.keysVer++
	if d.index != nil {
		mask := uint64(len(d.index) - 1)
		for i := mix(d.entries[j].hash) & mask; ; i = (i + 1) & mask {
			if d.index[i] == int32(j) {
				d.index[i] = -2
				break
			}
		}
	}
	d.entries[j] = dictEntry{}
	d.live--
	if d.live == 0 && (d.index != nil || len(d.entries) >= smallDict) { // a few gaps stay, so that who walks through it sees what comes after them
		d.entries = d.entries[:0]
		d.index = nil
	}
}

// GetStr looks up a string key.
func (d *Dict) GetStr(s string) (Object, bool) {
	if d == nil || d.live == 0 {
		return nil, false
	}
	if i := d.findStr(s, hashString(s)); i >= 0 {
		return d.entries[i].val, true
	}
	return nil, false
}

// GetStrAt is GetStr with a guess where the entry is, which it corrects: a name that is looked up often stays where it is.
func (d *Dict) GetStrAt(s string, at *int) (Object, bool) {
	if d == nil || d.live == 0 {
		return nil, false
	}
	if i := *at; i < len(d.entries) {
		if k, ok := d.entries[i].key.(Str); ok && string(k) == s {
			return d.entries[i].val, true
		}
	}
	i := d.findStr(s, hashString(s))
	if i < 0 {
		return nil, false
	}
	*at = i
	return d.entries[i].val, true
}

// Absence is a dict that was found to lack a key, and the version of its keys then.
type Absence struct {
	dict *Dict
	ver  uint32
}

// Lacks is not GetStr, with what was found before, which it corrects: a dict whose keys are those of then is not searched again.
func (d *Dict) Lacks(s string, before *Absence) bool {
	if before.dict == d && before.ver == d.keysVer {
		return true
	}
	if _, has := d.GetStr(s); has {
		return false
	}
	*before = Absence{d, d.keysVer}
	return true
}

// SetStr stores under a string key.
func (d *Dict) SetStr(s string, v Object) {
	h := hashString(s)
	if i := d.findStr(s, h); i >= 0 {
		d.entries[i].val = v
		d.valsVer++
		return
	}
	d.insert(h, Str(s), v)
}

// setDefault stores a value under a key that is not there.
func (d *Dict) setDefault(s string, v Object) {
	if _, ok := d.GetStr(s); !ok {
		d.SetStr(s, v)
	}
}

// DelStr removes a string key; false if it was not there.
func (d *Dict) DelStr(s string) bool {
	if i := d.findStr(s, hashString(s)); i >= 0 {
		d.remove(i)
		return true
	}
	return false
}

// Get looks a key up.
func (d *Dict) Get(in *Interp, key Object) (Object, bool, error) {
	if s, ok := key.(Str); ok {
		v, ok := d.GetStr(string(s))
		return v, ok, nil
	}
	h, err := in.Hash(key)
	if err != nil {
		return nil, false, err
	}
	if d.live == 0 {
		return nil, false, nil
	}
	i, err := d.find(in, key, h)
	if err != nil || i < 0 {
		return nil, false, err
	}
	return d.entries[i].val, true, nil
}

// Set stores a value.
func (d *Dict) Set(in *Interp, key, v Object) error {
	if s, ok := key.(Str); ok {
		h := hashString(string(s))
		if i := d.findStr(string(s), h); i >= 0 {
			d.entries[i].val = v
			d.valsVer++
			return nil
		}
		d.insert(h, key, v)
		return nil
	}
	h, err := in.Hash(key)
	if err != nil {
		return err
	}
	i, err := d.find(in, key, h)
	if err != nil {
		return err
	}
	if i >= 0 {
		d.entries[i].val = v
		d.valsVer++
		return nil
	}
	d.insert(h, key, v)
	return nil
}

// Del removes a key; false if it was not there.
func (d *Dict) Del(in *Interp, key Object) (bool, error) {
	h, err := in.Hash(key)
	if err != nil {
		return false, err
	}
	i, err := d.find(in, key, h)
	if err != nil || i < 0 {
		return false, err
	}
	d.remove(i)
	return true, nil
}

// Pop takes the last or the first pair out of the dict. Gaps at that end are closed: at the back every time, in front so often that taking all
// pairs from there is not quadratic.
func (d *Dict) Pop(last bool) (k, v Object, ok bool) {
	if d.live == 0 {
		return nil, nil, false
	}
	i := 0
	if last {
		for i = len(d.entries) - 1; d.entries[i].key == nil; i-- {
		}
		d.entries = d.entries[:i+1]
	} else {
		for d.entries[i].key == nil {
			i++
		}
		if i > 32 && i*i > d.live {
			d.compact()
			i = 0
		}
	}
	e := d.entries[i]
	d.remove(i)
	return e.key, e.val, true
}

// End is the last or the first key; nil of an empty dict.
func (d *Dict) End(last bool) Object {
	for i := range d.entries {
		if last {
			i = len(d.entries) - 1 - i
		}
		if k := d.entries[i].key; k != nil {
			return k
		}
	}
	return nil
}

// Clear empties the dict.
func (d *Dict) Clear() {
	d.keysVer++
	d.entries, d.index, d.live, d.filter = nil, nil, 0, 0
}

// Copy returns a shallow copy.
func (d *Dict) Copy() *Dict {
	n := &Dict{entries: make([]dictEntry, 0, d.live)}
	for _, e := range d.entries {
		if e.key != nil {
			n.entries = append(n.entries, e)
		}
	}
	n.live, n.filter, n.odd = len(n.entries), d.filter, d.odd
	if n.live > smallDict {
		n.rehash()
	}
	return n
}

// Each calls f for every item in order until it returns false.
func (d *Dict) Each(f func(k, v Object) bool) {
	if d == nil {
		return
	}
	for i := 0; i < len(d.entries); i++ {
		e := d.entries[i]
		if e.key != nil && !f(e.key, e.val) {
			return
		}
	}
}

// Keys returns the keys in order.
func (d *Dict) Keys() []Object {
	out := make([]Object, 0, d.Len())
	d.Each(func(k, _ Object) bool { out = append(out, k); return true })
	return out
}

// Values returns the values in order.
func (d *Dict) Values() []Object {
	out := make([]Object, 0, d.Len())
	d.Each(func(_, v Object) bool { out = append(out, v); return true })
	return out
}

// next gives the item at or after position i; ok false at the end.
func (d *Dict) next(i int) (int, Object, Object, bool) {
	for ; i < len(d.entries); i++ {
		if e := &d.entries[i]; e.key != nil {
			return i + 1, e.key, e.val, true
		}
	}
	return i, nil, nil, false
}

// StrDict makes a dict of alternating names and values.
func StrDict(kv ...any) *Dict {
	d := NewDict()
	for i := 0; i+1 < len(kv); i += 2 {
		d.SetStr(kv[i].(string), kv[i+1].(Object))
	}
	return d
}

// Set is a Python set. Its table and probing follow CPython, so that small integers come out in the same order.
type Set struct{ setTable }

// FrozenSet is an immutable set.
type FrozenSet struct {
	setTable
	hash   uint64
	hashed bool
}

// setTable is CPython's hash table for sets, probe by probe: the order in which a set gives its members depends on it, programs print it,
// and so it has to be the same. A probe looks at up to ten neighbouring places before it jumps. fill counts the places that are or were
// taken, used those that are.
type setTable struct {
	table []dictEntry // key nil: free; key deletedKey: dummy
	fill  int
	used  int
	popAt int // where pop goes on looking
}

// deleted marks a place whose member was removed: a search goes on behind it.
type deleted struct{}

// Type implements Object; no script sees it.
func (*deleted) Type() *Type { return ObjectType }

var deletedKey Object = &deleted{}

// NewSet makes an empty set.
func NewSet() *Set { return &Set{} }

// Len counts the members.
func (s *setTable) Len() int { return s.used }

// lookup gives the place of a member, -1 if it is none. h is the member's hash.
func (s *setTable) lookup(in *Interp, key Object, h uint64) (int, error) {
	if len(s.table) == 0 {
		return -1, nil
	}
	mask := uint64(len(s.table) - 1)
	perturb := h
	i := h & mask
	for {
		probes := uint64(0)
		if i+9 <= mask {
			probes = 9
		}
		for j := i; j <= i+probes; j++ {
			e := &s.table[j]
			if e.key == nil {
				return -1, nil
			}
			if e.hash == h && e.key != deletedKey {
				before := *s
				ok, err := sameKey(in, e.key, key)
				if err != nil {
					return -1, err
				}
				if s.fill != before.fill || s.used != before.used || len(s.table) != len(before.table) || &s.table[0] != &before.table[0] {
					return s.lookup(in, key, h) // the comparison has changed the set
				}
				if ok {
					return int(j), nil
				}
			}
		}
		perturb >>= 5
		i = (i*5 + 1 + perturb) & mask
	}
}

// gap is the last place on the way of a hash that a removed member left, -1 if there is none.
func (s *setTable) gap(h uint64) int {
	at := -1
	if s.fill == s.used {
		return at
	}
	mask := uint64(len(s.table) - 1)
	perturb := h
	i := h & mask
	for {
		probes := uint64(0)
		if i+9 <= mask {
			probes = 9
		}
		for j := i; j <= i+probes; j++ {
			if s.table[j].key == nil {
				return at
			}
			if s.table[j].key == deletedKey {
				at = int(j)
			}
		}
		perturb >>= 5
		i = (i*5 + 1 + perturb) & mask
	}
}

// place puts a member that is not there into the first free place on its way. Nothing may have been removed since the last resize.
func (s *setTable) place(e dictEntry) {
	mask := uint64(len(s.table) - 1)
	perturb := e.hash
	i := e.hash & mask
	for {
		probes := uint64(0)
		if i+9 <= mask {
			probes = 9
		}
		for j := i; j <= i+probes; j++ {
			if s.table[j].key == nil {
				s.table[j] = e
				return
			}
		}
		perturb >>= 5
		i = (i*5 + 1 + perturb) & mask
	}
}

// resize makes a table of the next size above min and places the members anew, in the order in which they lay.
func (s *setTable) resize(min int) {
	size := 8
	for size <= min {
		size <<= 1
	}
	old := s.table
	s.table = make([]dictEntry, size)
	for _, e := range old {
		if e.key != nil && e.key != deletedKey {
			s.place(e)
		}
	}
	s.fill = s.used
}

// Add inserts a member.
func (s *setTable) Add(in *Interp, key Object) error {
	h, err := in.Hash(key)
	if err != nil {
		return err
	}
	i, err := s.lookup(in, key, h)
	if err != nil || i >= 0 {
		return err
	}
	if len(s.table) == 0 { // or a comparison has emptied it
		s.table = make([]dictEntry, 8)
	}
	if i := s.gap(h); i >= 0 {
		s.table[i] = dictEntry{h, key, nil}
		s.used++
		return nil
	}
	s.place(dictEntry{h, key, nil})
	s.fill++
	s.used++
	if s.fill*5 >= (len(s.table)-1)*3 {
		s.grow()
	}
	return nil
}

// Has tests membership.
func (s *setTable) Has(in *Interp, key Object) (bool, error) {
	h, err := in.Hash(key)
	if err != nil {
		return false, err
	}
	i, err := s.lookup(in, key, h)
	return i >= 0, err
}

// Remove takes a member out; false if it was not there.
func (s *setTable) Remove(in *Interp, key Object) (bool, error) {
	h, err := in.Hash(key)
	if err != nil {
		return false, err
	}
	i, err := s.lookup(in, key, h)
	if err != nil || i < 0 {
		return false, err
	}
	s.table[i] = dictEntry{key: deletedKey}
	s.used--
	return true, nil
}

// Items returns the members in table order.
func (s *setTable) Items() []Object {
	out := make([]Object, 0, s.used)
	for i := range s.table {
		if k := s.table[i].key; k != nil && k != deletedKey {
			out = append(out, k)
		}
	}
	return out
}

// clone copies as CPython does: a table of the same size is copied as it is, otherwise the members are inserted anew.
func (s *setTable) clone() setTable {
	t := setTable{table: make([]dictEntry, 8)}
	t.merge(nil, s)
	return t
}

// merge adds the members of o, growing as CPython's set_merge does. in may be nil if s is empty.
func (s *setTable) merge(in *Interp, o *setTable) error {
	if s == o || o.used == 0 {
		return nil
	}
	if len(s.table) == 0 {
		s.table = make([]dictEntry, 8)
	}
	if (s.fill+o.used)*5 >= (len(s.table)-1)*3 {
		s.resize((s.used + o.used) * 2)
	}
	if s.fill == 0 && len(s.table) == len(o.table) && o.fill == o.used {
		copy(s.table, o.table)
		s.fill, s.used = o.fill, o.used
		return nil
	}
	if s.fill == 0 {
		for _, e := range o.table {
			if e.key != nil && e.key != deletedKey {
				s.place(e)
			}
		}
		s.fill, s.used = o.used, o.used
		return nil
	}
	for _, k := range o.Items() {
		if err := s.Add(in, k); err != nil {
			return err
		}
	}
	return nil
}

// update adds the members of any iterable.
func (s *setTable) update(in *Interp, o Object) error {
	if t, ok := asSet(o); ok {
		return s.merge(in, t)
	}
	items, err := in.IterAll(o)
	if err != nil {
		return err
	}
	if d, ok := o.(*Dict); ok && d.Len() > 0 {
		if len(s.table) == 0 {
			s.table = make([]dictEntry, 8)
		}
		if (s.fill+d.Len())*5 >= (len(s.table)-1)*3 {
			s.resize((s.used + d.Len()) * 2)
		}
	}
	for _, k := range items {
		if err := s.Add(in, k); err != nil {
			return err
		}
	}
	return nil
}

// asSet gives the table of a set or frozenset.
func asSet(o Object) (*setTable, bool) {
	switch x := unwrap(o).(type) {
	case *Set:
		return &x.setTable, true
	case *FrozenSet:
		return &x.setTable, true
	}
	return nil, false
}

// Is reports identity.
func Is(a, b Object) bool {
	switch x := a.(type) {
	case Int:
		y, ok := b.(Int)
		return ok && x == y
	case Bool:
		y, ok := b.(Bool)
		return ok && x == y
	case Str:
		y, ok := b.(Str)
		return ok && x == y
	case Float:
		y, ok := b.(Float)
		if x != x {
			return ok && dataOf(a) == dataOf(b) // each nan is itself alone
		}
		return ok && math.Float64bits(float64(x)) == math.Float64bits(float64(y))
	case Bytes:
		y, ok := b.(Bytes)
		return ok && x == y
	case Complex:
		y, ok := b.(Complex)
		return ok && x == y
	}
	if a == b {
		return true
	}
	x, ok := a.(Alias)
	if !ok {
		return false
	}
	y, ok := b.(Alias)
	return ok && x.Identified() == y.Identified()
}
