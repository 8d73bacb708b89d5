package pypickle

import (
	"math"
	"strconv"

	"whittle/capture/python/vm"
)

func init() {
	loaders[opProto] = func(u *unpickler) error {
		v, err := u.number(1)
		if err == nil && v > highestProtocol {
			err = u.in.Errorf(u.in.Exc.ValueError, "unsupported pickle protocol: %d", v)
		}
		u.proto = int(v)
		return err
	}
	loaders[opFrame] = func(u *unpickler) error {
		n, err := u.number(8)
		if err != nil {
			return err
		}
		if n > math.MaxInt64 {
			return u.in.Errorf(u.in.Exc.OverflowError, "FRAME length exceeds system's maximum of %d bytes", int64(math.MaxInt64))
		}
		if _, err := u.take(int(n)); err != nil {
			return err
		}
		u.at -= int(n)
		return nil
	}
	loaders[opMark] = func(u *unpickler) error { u.marks = append(u.marks, len(u.stack)); return nil }
	loaders[opPop] = func(u *unpickler) error {
		if n := len(u.marks); n > 0 && u.marks[n-1] == len(u.stack) {
			u.marks = u.marks[:n-1]
			return nil
		}
		_, err := u.pop()
		return err
	}
	loaders[opPopMark] = func(u *unpickler) error {
		_, err := u.marked()
		return err
	}
	loaders[opDup] = value((*unpickler).top)
	loaders[opEmptyTuple] = func(u *unpickler) error { u.push(vm.NewTuple()); return nil }
	loaders[opEmptyList] = func(u *unpickler) error { u.push(vm.NewList()); return nil }
	loaders[opEmptyDict] = func(u *unpickler) error { u.push(vm.NewDict()); return nil }
	loaders[opEmptySet] = func(u *unpickler) error { u.push(vm.NewSet()); return nil }
	for i, code := range []byte{opTuple1, opTuple2, opTuple3} {
		loaders[code] = value(func(u *unpickler) (vm.Object, error) {
			items, err := u.popTo(len(u.stack) - i - 1)
			return vm.NewTuple(items...), err
		})
	}
	loaders[opTuple] = value(func(u *unpickler) (vm.Object, error) {
		items, err := u.marked()
		return vm.NewTuple(items...), err
	})
	loaders[opList] = value(func(u *unpickler) (vm.Object, error) {
		items, err := u.marked()
		return vm.NewList(items...), err
	})
	loaders[opFrozenSet] = value(func(u *unpickler) (vm.Object, error) {
		items, err := u.marked()
		if err != nil {
			return nil, err
		}
		return u.in.Call(vm.FrozenSetType, []vm.Object{vm.NewTuple(items...)}, nil)
	})
	loaders[opDict] = value((*unpickler).dict)
	loaders[opAppend] = func(u *unpickler) error {
		if len(u.stack)-1 <= u.fence() {
			return u.underflow()
		}
		return u.appendTo(len(u.stack) - 1)
	}
	loaders[opAppends] = marking((*unpickler).appendTo)
	loaders[opSetItem] = func(u *unpickler) error { return u.setItems(len(u.stack) - 2) }
	loaders[opSetItems] = marking((*unpickler).setItems)
	loaders[opAddItems] = marking((*unpickler).addItems)
	memoLoaders()
}

// marking is an instruction for the items above the mark, which belong to the object below it.
func marking(f func(u *unpickler, at int) error) func(u *unpickler) error {
	return func(u *unpickler) error {
		at, err := u.marker()
		if err != nil {
			return err
		}
		return f(u, at)
	}
}

func (u *unpickler) dict() (vm.Object, error) {
	items, err := u.marked()
	if err != nil {
		return nil, err
	}
	if len(items)%2 != 0 {
		return nil, u.fail("odd number of items for DICT")
	}
	d := vm.NewDict()
	for i := 0; i < len(items); i += 2 {
		if err := d.Set(u.in, items[i], items[i+1]); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// owned takes the items from a place on, and gives the object below them.
func (u *unpickler) owned(at int) (o vm.Object, items []vm.Object, err error) {
	if at > len(u.stack) || at <= u.fence() {
		return nil, nil, u.underflow()
	}
	o = u.stack[at-1]
	items, err = u.popTo(at)
	return o, items, err
}

func (u *unpickler) appendTo(at int) error {
	o, items, err := u.owned(at)
	if err != nil || len(items) == 0 {
		return err
	}
	if l, ok := o.(*vm.List); ok {
		l.Items = append(l.Items, items...)
		return nil
	}
	extend, err := u.in.GetAttrOpt(o, "extend")
	if err != nil {
		return err
	}
	if extend != nil {
		_, err = u.in.Call(extend, []vm.Object{vm.NewList(items...)}, nil)
		return err
	}
	return u.each(o, "append", items)
}

// each calls a method with each item.
func (u *unpickler) each(o vm.Object, method string, items []vm.Object) error {
	f, err := u.in.GetAttr(o, method)
	if err != nil {
		return err
	}
	for _, it := range items {
		if _, err := u.in.Call(f, []vm.Object{it}, nil); err != nil {
			return err
		}
	}
	return nil
}

func (u *unpickler) setItems(at int) error {
	o, items, err := u.owned(at)
	if err != nil || len(items) == 0 {
		return err
	}
	if len(items)%2 != 0 {
		return u.fail("odd number of items for SETITEMS")
	}
	for i := 0; i < len(items); i += 2 {
		if err := u.in.SetItem(o, items[i], items[i+1]); err != nil {
			return err
		}
	}
	return nil
}

func (u *unpickler) addItems(at int) error {
	o, items, err := u.owned(at)
	if err != nil || len(items) == 0 {
		return err
	}
	s, ok := o.(*vm.Set)
	if !ok {
		return u.each(o, "add", items)
	}
	for _, it := range items {
		if err := s.Add(u.in, it); err != nil {
			return err
		}
	}
	return nil
}

// memoLoaders are the instructions that remember and fetch.
func memoLoaders() {
	loaders[opGet] = value(func(u *unpickler) (vm.Object, error) {
		i, err := u.memoIndex()
		if err != nil {
			return nil, err
		}
		return u.recall(i)
	})
	loaders[opPut] = func(u *unpickler) error {
		i, err := u.memoIndex()
		if err == nil {
			err = u.keep(i)
		}
		return err
	}
	for code, n := range map[byte]int{opBinGet: 1, opLongBinGet: 4} {
		loaders[code] = value(func(u *unpickler) (vm.Object, error) {
			i, err := u.number(n)
			if err != nil {
				return nil, err
			}
			return u.recall(int64(i))
		})
	}
	for code, n := range map[byte]int{opBinPut: 1, opLongBinPut: 4} {
		loaders[code] = func(u *unpickler) error {
			i, err := u.number(n)
			if err == nil {
				err = u.keep(int64(i))
			}
			return err
		}
	}
	loaders[opMemoize] = func(u *unpickler) error { return u.keep(int64(len(u.memo))) }
}

// memoIndex reads a place in the memo in digits.
func (u *unpickler) memoIndex() (int64, error) {
	b, err := u.line()
	if err != nil {
		return 0, err
	}
	if len(b) < 2 {
		return 0, u.truncated()
	}
	if i, err := strconv.ParseInt(string(b[:len(b)-1]), 10, 64); err == nil {
		return i, nil
	}
	v, err := u.in.Call(vm.IntType, []vm.Object{vm.Str(b)}, nil)
	if err != nil {
		return 0, err
	}
	return u.in.Index(v)
}

func (u *unpickler) recall(i int64) (vm.Object, error) {
	if v, ok := u.memo[i]; ok {
		return v, nil
	}
	return nil, u.fail("Memo value not found at index %d", i)
}

func (u *unpickler) keep(i int64) error {
	v, err := u.top()
	if err != nil {
		return err
	}
	if i < 0 {
		return u.in.Errorf(u.in.Exc.ValueError, "negative PUT argument")
	}
	u.memo[i] = v
	return nil
}
