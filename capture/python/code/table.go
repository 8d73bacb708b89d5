package code

import (
	"fmt"
	"slices"

	"whittle/capture/python/syntax"
)

// Table is what the compiler knows of the names of a block, for programs that ask: module symtable.
type Table struct {
	Name     string // of the function or class; "top" for a module
	Kind     TableKind
	Line     int32
	Nested   bool     // in a function, directly or not
	Params   []string // of a function
	Symbols  []TableSymbol
	Children []*Table
}

// TableKind says what a Table is of, as CPython numbers it.
type TableKind int

// The kinds.
const (
	FunctionTable TableKind = iota
	ClassTable
	ModuleTable
)

// TableSymbol is a name with its flags: where it is bound and used, and from TableScope on where it lives.
type TableSymbol struct {
	Name  string
	Flags int
}

// TableScope is where in the flags the scope begins.
const TableScope = 11

// The scopes of names, as CPython numbers them.
const (
	TableLocal = iota + 1
	TableGlobal
	TableImplicit
	TableFree
	TableCell
)

// tableFlags are the flags of CPython for those of a symbol.
var tableFlags = []struct {
	of   symbol
	flag int
}{
	{defGlobal, 1}, {defLocal, 2}, {defParam, 4}, {defNonlocal, 8}, {used, 16}, {freeInClass, 64}, {defImport, 128}, {defAnnot, 256}, {defCompIter, 512},
	{isLocal, TableLocal << TableScope}, {isFree, TableFree << TableScope}, {isCell, TableCell << TableScope},
}

// Tables is the symbol table of a text.
func Tables(filename, src string, mode Mode) (t *Table, err error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*syntax.Error)
			if !ok {
				panic(r)
			}
			t, err = nil, e
		}
	}()
	if mode == Eval {
		e, f, err := syntax.ParseExpr(filename, src, syntax.Typed{})
		if err != nil {
			return nil, err
		}
		x := &syntax.ExprStmt{Value: e}
		x.Span = e.Pos()
		return newTable(buildSymbols(f, []syntax.Stmt{x}), nil), nil
	}
	f, err := syntax.Parse(filename, src)
	if err != nil {
		return nil, err
	}
	return newTable(buildSymbols(f, f.Body), nil), nil
}

// newTable is the table of a scope, which is n's, and of those within.
func newTable(s *scope, n syntax.Node) *Table {
	t := &Table{Name: "top", Kind: ModuleTable, Params: s.params}
	switch x := n.(type) {
	case nil:
	case *syntax.FunctionDef:
		t.Name = x.Name
	case *syntax.ClassDef:
		t.Name = x.Name
	case *syntax.Lambda:
		t.Name = "lambda"
	case *syntax.GeneratorExp:
		t.Name = "genexpr"
	case *syntax.ListComp:
		t.Name = "listcomp"
	case *syntax.SetComp:
		t.Name = "setcomp"
	case *syntax.DictComp:
		t.Name = "dictcomp"
	default:
		panic(fmt.Sprintf("code: a scope of %T", n))
	}
	if n != nil {
		t.Line = n.Pos().Line
		t.Kind = FunctionTable
		for up := s.parent; up != nil; up = up.parent {
			t.Nested = t.Nested || up.function()
		}
	}
	if s.kind == classScope {
		t.Kind = ClassTable
	}
	names := slices.Clone(s.names)
	for _, name := range s.with(^symbol(0)) { // those that only blocks within use come last
		if !slices.Contains(s.names, name) {
			names = append(names, name)
		}
	}
	for _, name := range names {
		t.Symbols = append(t.Symbols, TableSymbol{name, s.tableFlags(name)})
	}
	nodes := map[*scope]syntax.Node{}
	for n, c := range s.children {
		nodes[c] = n
	}
	for _, c := range s.order {
		t.Children = append(t.Children, newTable(c, nodes[c]))
	}
	return t
}

func (s *scope) tableFlags(name string) int {
	d, flags := s.symbols[name], 0
	for _, f := range tableFlags {
		if d&f.of != 0 {
			flags |= f.flag
		}
	}
	switch {
	case d&isGlobal != 0 && d&defGlobal != 0:
		flags |= TableGlobal << TableScope
	case d&isGlobal != 0:
		flags |= TableImplicit << TableScope
	}
	return flags
}
