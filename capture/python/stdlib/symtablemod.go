package stdlib

import (
	"fmt"
	"strings"

	"whittle/capture/python/clinic"
	"whittle/capture/python/code"
	"whittle/capture/python/vm"
)

// tableEntry is a block of a symbol table.
type tableEntry struct {
	vm.Identity
	class    *vm.Type
	t        *code.Table
	symbols  *vm.Dict
	params   *vm.List
	children *vm.List
}

// Type implements vm.Object.
func (e *tableEntry) Type() *vm.Type { return e.class }

func newTableEntry(class *vm.Type, t *code.Table) *tableEntry {
	e := &tableEntry{class: class, t: t, symbols: vm.NewDict(), params: &vm.List{}, children: &vm.List{}}
	for _, s := range t.Symbols {
		e.symbols.SetStr(s.Name, vm.MakeInt(int64(s.Flags)))
	}
	for _, p := range t.Params {
		e.params.Items = append(e.params.Items, vm.Str(p))
	}
	for _, c := range t.Children {
		e.children.Items = append(e.children.Items, newTableEntry(class, c))
	}
	return e
}

// tableFacts are the numbers by which a table's kinds and flags are told.
var tableFacts = map[string]int{"USE": 16, "DEF_GLOBAL": 1, "DEF_NONLOCAL": 8, "DEF_LOCAL": 2, "DEF_PARAM": 4, "DEF_FREE": 32, "DEF_FREE_CLASS": 64, "DEF_IMPORT": 128,
	"DEF_BOUND": 134, "DEF_ANNOT": 256, "TYPE_FUNCTION": int(code.FunctionTable), "TYPE_CLASS": int(code.ClassTable), "TYPE_MODULE": int(code.ModuleTable), "LOCAL": code.TableLocal,
	"GLOBAL_EXPLICIT": code.TableGlobal, "GLOBAL_IMPLICIT": code.TableImplicit, "FREE": code.TableFree, "CELL": code.TableCell, "SCOPE_OFF": code.TableScope, "SCOPE_MASK": 15}

// symtableModule is _symtable, on which CPython's symtable.py stands.
func symtableModule(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("_symtable", "")
	for n, v := range tableFacts {
		m.Set(n, vm.MakeInt(int64(v)))
	}
	class := tableEntryType(in)
	clinic.Def(m, "symtable", "source, filename, startstr:str, /", func(c *clinic.Call) (vm.Object, error) {
		file, err := c.SourceName(c.Args[1])
		if err != nil {
			return nil, err
		}
		src, ok := vm.AsStr(c.Args[0])
		if b, raw := vm.AsBytes(c.Args[0]); raw {
			if src, err = c.DecodeSource(file, b); err != nil {
				return nil, err
			}
		} else if !ok {
			return nil, c.Errorf(c.Exc.TypeError, "symtable() arg 1 must be a string or bytes object")
		}
		if strings.IndexByte(file, 0) >= 0 {
			return nil, c.Errorf(c.Exc.ValueError, "embedded null character")
		}
		if strings.IndexByte(src, 0) >= 0 {
			return nil, c.Errorf(c.Exc.ValueError, "source code string cannot contain null bytes")
		}
		mode := code.Mode(c.Str(2))
		if mode != code.Exec && mode != code.Eval && mode != code.Single {
			return nil, c.Errorf(c.Exc.ValueError, "symtable() arg 3 must be 'exec' or 'eval' or 'single'")
		}
		t, err := code.Tables(file, src, mode)
		if err != nil {
			return nil, c.SourceError(err)
		}
		return newTableEntry(class, t), nil
	})
	return m, nil
}

func tableEntryType(in *vm.Interp) *vm.Type {
	field := func(name string, get func(in *vm.Interp, e *tableEntry) vm.Object) *vm.GetSet {
		return &vm.GetSet{Name: name, Get: func(in *vm.Interp, o vm.Object) (vm.Object, error) { return get(in, o.(*tableEntry)), nil },
			Set: func(in *vm.Interp, _, _ vm.Object) error {
				return in.Errorf(in.Exc.AttributeError, "readonly attribute")
			}}
	}
	return in.NewNativeType(vm.Spec{Name: "symtable entry", Module: "builtins", NoDict: true, Strict: true, Final: true,
		New: func(in *vm.Interp, _ *vm.Type, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return nil, in.Errorf(in.Exc.TypeError, "cannot create 'symtable entry' instances")
		},
		Methods: map[string]vm.GoFunc{"__repr__": clinic.Method("__repr__", "", func(c *clinic.Call) (vm.Object, error) {
			e := c.Self.(*tableEntry)
			return vm.Str(fmt.Sprintf("<symtable entry %s(%d), line %d>", e.t.Name, c.ID(e), e.t.Line)), nil
		})},
		GetSet: []*vm.GetSet{
			field("id", func(in *vm.Interp, e *tableEntry) vm.Object { return vm.MakeInt(int64(in.ID(e))) }),
			field("name", func(_ *vm.Interp, e *tableEntry) vm.Object { return vm.Str(e.t.Name) }),
			field("symbols", func(_ *vm.Interp, e *tableEntry) vm.Object { return e.symbols }),
			field("varnames", func(_ *vm.Interp, e *tableEntry) vm.Object { return e.params }),
			field("children", func(_ *vm.Interp, e *tableEntry) vm.Object { return e.children }),
			field("nested", func(_ *vm.Interp, e *tableEntry) vm.Object {
				if e.t.Nested {
					return vm.Int(1)
				}
				return vm.Int(0)
			}),
			field("type", func(_ *vm.Interp, e *tableEntry) vm.Object { return vm.MakeInt(int64(e.t.Kind)) }),
			field("lineno", func(_ *vm.Interp, e *tableEntry) vm.Object { return vm.MakeInt(int64(e.t.Line)) }),
		}})
}

func init() { natives["_symtable"] = symtableModule }
