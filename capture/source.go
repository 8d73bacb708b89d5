package capture

import (
	"fmt"
	"regexp"
	"strings"

	"whittle/capture/python/vm"
)

// Source says how to reach a value from the frame that is being compiled. Name is the text that guards print.
type Source interface {
	Name() string
	Get(e *env) (vm.Object, error)
}

// env is what sources are read from: the frame's arguments and globals.
type env struct {
	in      *vm.Interp
	locals  map[string]vm.Object
	globals *vm.Dict
}

type (
	localSource  struct{ name string }
	globalSource struct{ name string }
	attrSource   struct {
		base Source
		name string
	}
	itemSource struct {
		base Source
		key  vm.Object
		text string
	}
	// dictSource is base.__dict__-like access: L['self']._modules['layers'].
	moduleItemSource struct {
		base  Source
		table string // _modules, _parameters, _buffers
		name  string
	}
	// keyedSource is base[key] for a key with a source of its own.
	keyedSource struct{ base, key Source }
	// nativeSource is the built-in value inside an instance of a subclass of a built-in type.
	nativeSource struct{ base Source }
)

func (s localSource) Name() string  { return fmt.Sprintf("L['%s']", s.name) }
func (s globalSource) Name() string { return fmt.Sprintf("G['%s']", s.name) }
func (s attrSource) Name() string   { return s.base.Name() + "." + s.name }
func (s itemSource) Name() string   { return s.base.Name() + "[" + s.text + "]" }
func (s moduleItemSource) Name() string {
	return fmt.Sprintf("%s.%s['%s']", s.base.Name(), s.table, s.name)
}
func (s keyedSource) Name() string  { return s.base.Name() + "[" + s.key.Name() + "]" }
func (s nativeSource) Name() string { return s.base.Name() }

func (s localSource) Get(e *env) (vm.Object, error) {
	if v := e.locals[s.name]; v != nil {
		return v, nil
	}
	return nil, fmt.Errorf("local %s is unbound", s.name)
}

func (s globalSource) Get(e *env) (vm.Object, error) {
	if v, ok := e.globals.GetStr(s.name); ok {
		return v, nil
	}
	return nil, fmt.Errorf("global %s is undefined", s.name)
}

func (s attrSource) Get(e *env) (vm.Object, error) {
	b, err := s.base.Get(e)
	if err != nil {
		return nil, err
	}
	if i, ok := b.(*vm.Instance); ok && i.Dict != nil {
		if v, ok := i.Dict.GetStr(s.name); ok {
			return v, nil
		}
	}
	return e.in.GetAttr(b, s.name)
}

func (s itemSource) Get(e *env) (vm.Object, error) {
	b, err := s.base.Get(e)
	if err != nil {
		return nil, err
	}
	return e.in.GetItem(b, s.key)
}

func (s moduleItemSource) Get(e *env) (vm.Object, error) {
	b, err := s.base.Get(e)
	if err != nil {
		return nil, err
	}
	if v, ok := moduleItem(b, s.table, s.name); ok {
		return v, nil
	}
	return nil, fmt.Errorf("%s is gone", s.Name())
}

func (s keyedSource) Get(e *env) (vm.Object, error) {
	b, err := s.base.Get(e)
	if err != nil {
		return nil, err
	}
	k, err := s.key.Get(e)
	if err != nil {
		return nil, err
	}
	d, ok := vm.AsDict(b) // not GetItem: a defaultdict would make the item
	if !ok {
		return nil, fmt.Errorf("%s is no dict", s.base.Name())
	}
	v, ok, err := d.Get(e.in, k)
	if err == nil && !ok {
		err = fmt.Errorf("%s is gone", s.Name())
	}
	return v, err
}

func (s nativeSource) Get(e *env) (vm.Object, error) {
	b, err := s.base.Get(e)
	if err != nil {
		return nil, err
	}
	if i, ok := b.(*vm.Instance); ok {
		if n, ok := i.Native.(vm.Object); ok {
			return n, nil
		}
	}
	return nil, fmt.Errorf("%s holds no built-in value", s.base.Name())
}

// moduleItem looks name up in one of an nn.Module's tables.
func moduleItem(o vm.Object, table, name string) (vm.Object, bool) {
	i, ok := o.(*vm.Instance)
	if !ok || i.Dict == nil {
		return nil, false
	}
	t, ok := i.Dict.GetStr(table)
	if !ok {
		return nil, false
	}
	d, ok := vm.AsDict(t)
	if !ok {
		return nil, false
	}
	return d.GetStr(name)
}

var notWord = regexp.MustCompile(`[^a-zA-Z0-9]+`)

// placeholderName is the name that PyTorch gives to a source's graph input: L['x'] is L_x_.
func placeholderName(source string) string {
	return strings.TrimPrefix(notWord.ReplaceAllString(source, "_"), "_")
}
