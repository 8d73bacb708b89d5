package code

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"whittle/capture/python/syntax"
)

// Mode says what a piece of source is compiled for.
type Mode string

// The modes of compile().
const (
	Exec   Mode = "exec"
	Eval   Mode = "eval"
	Single Mode = "single"
)

// frameBlock is something that return, break and continue must leave properly.
type frameBlock struct {
	kind  blockKind
	start label         // loops: continue goes here
	end   label         // loops: break goes here
	reg   *region       // its own region, which what runs on the way out is not in
	final []syntax.Stmt // the finally clause
	name  string        // what except ... as binds
	pos   syntax.Span   // of a with statement's manager, where its exit is called
	async bool          // of an async with
}

// blockKind says what leaving a block takes; see unwind.
type blockKind uint8

const (
	whileLoop blockKind = iota
	forLoop
	tryBlock      // inside try: with handlers
	finallyTry    // inside try: with a finally body
	finallyEnd    // inside the exceptional copy of a finally body
	withBlock     // inside with
	handlerBlock  // inside except
	handlerNamed  // inside except ... as name
	starHandler   // inside except*: nothing leaves it
	popValueBlock // a value lies on the stack
)

// compiler emits the code of one file. u is the code object that is being made; those around it wait in its outer. Mistakes of the program
// are panics with a *syntax.Error, and bugs panics with a string: compile makes errors of both.
type compiler struct {
	file   *syntax.File
	u      *unit
	src    *Source // of all code of the file
	future bool    // annotations stay text
	mode   Mode
	level  Optimize
}

// Optimize says what code leaves out, as -O of CPython and the argument of compile() do.
type Optimize int

// The levels of Optimize.
const (
	Whole     Optimize = iota // nothing
	NoAsserts                 // assert statements; __debug__ is False
	NoDocs                    // docstrings, too
)

// CompileSource is Source that leaves nothing out.
func CompileSource(filename, src string, mode Mode) (*Code, error) {
	return Whole.Source(filename, src, mode)
}

// Source parses and compiles in one step. Errors of the source are *syntax.Error.
func (o Optimize) Source(filename, src string, mode Mode) (*Code, error) {
	return o.Typed(filename, src, mode, syntax.Typed{})
}

// Typed is Source of a text that a person is typing.
func (o Optimize) Typed(filename, src string, mode Mode, how syntax.Typed) (*Code, error) {
	how.Single = mode == Single
	if mode == Eval {
		e, f, err := syntax.ParseExpr(filename, src, how)
		if err != nil {
			return nil, err
		}
		r := &syntax.Return{Value: e}
		r.Span = e.Pos()
		return o.compile(f, []syntax.Stmt{r}, Eval)
	}
	f, err := syntax.ParseTyped(filename, src, how)
	if err != nil {
		return nil, err
	}
	return o.compile(f, f.Body, mode)
}

// Known is Source for a module that is part of this program, and so known to be right.
func (o Optimize) Known(filename, src string) (*Code, error) {
	f, err := syntax.ParseKnown(filename, src)
	if err != nil {
		return nil, err
	}
	return o.compile(f, f.Body, Exec)
}

// compile makes the code of a module, in three walks over the tree: the symbol table, the checks, and the code. Each reports its first
// mistake before the next begins, as CPython does.
func (o Optimize) compile(f *syntax.File, body []syntax.Stmt, mode Mode) (co *Code, err error) {
	c := &compiler{file: f, src: &Source{f.Source}, future: f.Future["annotations"], mode: mode, level: o}
	defer func() {
		if r := recover(); r != nil {
			if e, ok := r.(*syntax.Error); ok {
				co, err = nil, e
				return
			}
			co, err = nil, fmt.Errorf("code: compiling %s: %v", f.Filename, r)
		}
	}()
	root := buildSymbols(f, body)
	check(f, root, body, mode)
	c.enter(root, "<module>", 1)
	c.u.pos.Line = 0
	c.u.emit(RESUME, 0)
	c.u.pos = syntax.Span{Line: 1, Col: -1, EndLine: 1, EndCol: -1}
	if root.annots {
		c.u.emit(SETUP_ANNOTATIONS, 0)
	}
	if mode == Exec {
		body = c.docstring(body)
	}
	c.stmts(body)
	co = c.leave(true)
	co.Warnings = f.Warnings
	return co, nil
}

// enter begins a code object for a scope: its name, flags and variables, and the instructions that every function of its kind begins with.
// Free variables are copied from the closure into the last slots of the frame; a local that inner functions see is moved into a cell; and a
// generator function returns its generator before anything of its body runs.
func (c *compiler) enter(s *scope, name string, line int) {
	u := &unit{outer: c.u, scope: s, consts: map[any]int{}, names: map[string]int{}}
	u.pos = syntax.Span{Line: int32(line), Col: -1, EndLine: int32(line), EndCol: -1}
	co := &Code{Name: name, QualName: name, Filename: c.file.Filename, FirstLine: line, Source: c.src}
	u.code = co
	if o := c.u; o != nil {
		// A function that is declared global keeps its bare name.
		if !(o.scope.of(name)&defGlobal != 0 && s.kind != compScope) {
			switch {
			case o.scope.kind == functionScope:
				co.QualName = o.code.QualName + ".<locals>." + name
			case o.scope.kind != moduleScope:
				co.QualName = o.code.QualName + "." + name
			}
		}
		for ; o != nil; o = o.outer {
			if s.function() && o.scope.function() {
				co.Flags |= Nested
			}
		}
	}
	if c.future {
		co.Flags |= Annotations
	}
	if s.function() {
		co.Flags |= Optimized | NewLocals
		switch {
		case s.gen && s.coroutine:
			co.Flags |= AsyncGen
		case s.gen:
			co.Flags |= Generator
		case s.coroutine:
			co.Flags |= Coroutine
		}
		co.VarNames = s.varNames()
	}
	co.CellVars = s.cells()
	co.FreeVars = s.free()
	c.u = u
	u.pos.Line, u.pos.EndLine = -1, -1 // what makes the frame ready is of no line
	if len(co.FreeVars) > 0 {
		u.emit(COPY_FREE_VARS, len(co.FreeVars))
	}
	for _, n := range co.CellVars {
		u.emit(MAKE_CELL, co.CellSlot(n))
	}
	u.pos = syntax.Span{Line: int32(line), Col: -1, EndLine: int32(line), EndCol: -1}
	if s.gen || s.coroutine && s.function() {
		u.emit(RETURN_GENERATOR, 0)
		u.emit(POP_TOP, 0)
	}
	u.pos.Col, u.pos.EndCol = 0, 0
}

// leave finishes the current code object. Without an explicit return it returns None.
func (c *compiler) leave(addReturn bool) *Code {
	u := c.u
	if addReturn {
		u.pos = noPos
		u.emit(LOAD_CONST, c.constant(nil))
		u.emit(RETURN_VALUE, 0)
	}
	if err := u.assemble(); err != nil {
		panic(err.Error())
	}
	c.u = u.outer
	return u.code
}

// floatKey keeps 0.0 and -0.0 apart, which are equal.
type floatKey struct{ bits string }

// constKey is what constants are told apart by: 1, 1.0 and True are equal and yet three constants. nil says that v is one of its own.
func constKey(v any) any {
	switch x := v.(type) {
	case nil:
		return "nil"
	case bool:
		return [2]any{"bool", x}
	case int64:
		return x
	case *big.Int:
		return [2]any{"big", x.String()}
	case float64:
		return floatKey{fmt.Sprintf("%x %v", x, 1/x)}
	case complex128:
		return floatKey{fmt.Sprintf("c%x", x)}
	case string:
		return [2]any{"str", x}
	case Bytes:
		return x
	case Ellipsis:
		return x
	case Tuple:
		s := "("
		for _, e := range x {
			s += fmt.Sprintf("%T:%v,", e, constKey(e))
		}
		return [2]any{"tuple", s}
	}
	return nil
}

// constant gives the number of a constant, the same for the same constant.
func (u *unit) constant(v any) int {
	k := constKey(v)
	if k != nil {
		if i, ok := u.consts[k]; ok {
			return i
		}
		u.consts[k] = len(u.code.Consts)
	}
	u.code.Consts = append(u.code.Consts, v)
	return len(u.code.Consts) - 1
}

func (c *compiler) constant(v any) int { return c.u.constant(v) }

func (c *compiler) loadConst(v any) { c.u.emit(LOAD_CONST, c.constant(v)) }

// name gives the number of a name in Names.
func (c *compiler) name(n string) int {
	u := c.u
	if i, ok := u.names[n]; ok {
		return i
	}
	u.names[n] = len(u.code.Names)
	u.code.Names = append(u.code.Names, n)
	return len(u.code.Names) - 1
}

// at gives what is emitted the position of n until the function that it returns is called.
func (c *compiler) at(n syntax.Node) func() {
	old := c.u.pos
	c.u.pos = n.Pos()
	u := c.u
	return func() { u.pos = old }
}

func (c *compiler) fail(n syntax.Node, format string, args ...any) {
	panic(c.file.ErrorAt(n.Pos(), format, args...))
}

// docstring stores a body's leading string in __doc__.
func (c *compiler) docstring(body []syntax.Stmt) []syntax.Stmt {
	if s, ok := docOf(body); ok {
		if c.level >= NoDocs {
			return body[1:]
		}
		defer c.at(body[0])()
		c.loadConst(s)
		c.u.emit(STORE_NAME, c.name("__doc__"))
		return body[1:]
	}
	return body
}

// docOf is the docstring of a body.
func docOf(body []syntax.Stmt) (string, bool) {
	if len(body) == 0 {
		return "", false
	}
	if e, ok := body[0].(*syntax.ExprStmt); ok {
		if k, ok := e.Value.(*syntax.Constant); ok {
			s, ok := k.Value.(string)
			return s, ok
		}
	}
	return "", false
}

// Names.

// loadName pushes a variable's value, by the instruction for where the symbol table says that it lives. A class body looks at its own
// namespace first for what is a free variable there.
func (c *compiler) loadName(n string) {
	n = Mangle(c.u.scope.class, n)
	u := c.u
	switch u.scope.access(n) {
	case accFast:
		u.emit(LOAD_FAST, slices.Index(u.code.VarNames, n))
	case accGlobal:
		u.emit(LOAD_GLOBAL, c.name(n)<<1)
	case accCell:
		u.emit(LOAD_DEREF, u.code.CellSlot(n))
	case accFree:
		if u.scope.kind == classScope {
			u.emit(LOAD_CLASSDEREF, u.code.CellSlot(n))
		} else {
			u.emit(LOAD_DEREF, u.code.CellSlot(n))
		}
	default:
		u.emit(LOAD_NAME, c.name(n))
	}
}

func (c *compiler) storeName(n string) {
	c.nameOp(n, STORE_FAST, STORE_GLOBAL, STORE_DEREF, STORE_NAME)
}

func (c *compiler) deleteName(n string) {
	c.nameOp(n, DELETE_FAST, DELETE_GLOBAL, DELETE_DEREF, DELETE_NAME)
}

// nameOp stores to or deletes a variable, by one of four instructions.
func (c *compiler) nameOp(n string, fast, global, deref, name Op) {
	n = Mangle(c.u.scope.class, n)
	u := c.u
	acc := u.scope.access(n)
	switch acc {
	case accFast:
		u.emit(fast, slices.Index(u.code.VarNames, n))
	case accGlobal:
		u.emit(global, c.name(n))
	case accCell, accFree:
		u.emit(deref, u.code.CellSlot(n))
	default:
		u.emit(name, c.name(n))
	}
}

// Statements.

func (c *compiler) stmts(list []syntax.Stmt) {
	for _, s := range list {
		c.stmt(s)
	}
}

// stmt emits a statement. It leaves the stack as it was.
func (c *compiler) stmt(s syntax.Stmt) {
	u := c.u
	u.pos = s.Pos()
	switch s := s.(type) {
	case *syntax.ExprStmt:
		c.exprStmt(s)
	case *syntax.Assign:
		c.assign(s)
	case *syntax.AugAssign:
		c.augAssign(s)
	case *syntax.AnnAssign:
		c.annAssign(s)
	case *syntax.Return:
		c.ret(s)
	case *syntax.If:
		c.ifStmt(s)
	case *syntax.While:
		c.while(s)
	case *syntax.For:
		c.forStmt(s)
	case *syntax.Break:
		c.breakContinue(true)
	case *syntax.Continue:
		c.breakContinue(false)
	case *syntax.Pass:
		u.emit(NOP, 0)
	case *syntax.Global, *syntax.Nonlocal: // the symbol table has taken them in
	case *syntax.Delete:
		for _, t := range s.Targets {
			c.del(t)
		}
	case *syntax.Raise:
		c.raise(s)
	case *syntax.Assert:
		c.assert(s)
	case *syntax.Import:
		c.importStmt(s)
	case *syntax.ImportFrom:
		c.importFrom(s)
	case *syntax.Try:
		if len(s.Final) > 0 {
			c.tryFinally(s)
		} else {
			c.handlers(s)
		}
	case *syntax.With:
		c.with(s, 0)
	case *syntax.FunctionDef:
		c.funcDef(s)
	case *syntax.ClassDef:
		c.classDef(s)
	case *syntax.Match:
		c.match(s)
	default:
		panic(fmt.Sprintf("statement %T", s))
	}
}

// exprStmt drops the value, or prints it at an interactive prompt. A constant does nothing; its NOP is there to be stepped on.
func (c *compiler) exprStmt(s *syntax.ExprStmt) {
	u := c.u
	if c.mode == Single && u.outer == nil {
		c.expr(s.Value)
		u.emit(PRINT_EXPR, 0)
		return
	}
	if _, ok := s.Value.(*syntax.Constant); ok {
		u.emit(NOP, 0)
		return
	}
	c.expr(s.Value)
	u.pos = s.Pos()
	u.emit(POP_TOP, 0)
}

// assign evaluates once and stores to each target from the left.
func (c *compiler) assign(s *syntax.Assign) {
	c.expr(s.Value)
	for i, t := range s.Targets {
		if i < len(s.Targets)-1 {
			c.u.emit(COPY, 1)
		}
		c.store(t)
	}
}

// ifStmt jumps over what is not to run.
func (c *compiler) ifStmt(s *syntax.If) {
	u := c.u
	els, end := u.newLabel(), u.newLabel()
	c.jumpIf(s.Test, els, false)
	c.stmts(s.Body)
	if len(s.Else) > 0 {
		u.pos = noPos
		u.jump(JUMP_FORWARD, end)
	}
	u.mark(els)
	c.stmts(s.Else)
	u.mark(end)
}

// raise pushes what there is: nothing, an exception, or that and its cause.
func (c *compiler) raise(s *syntax.Raise) {
	n := 0
	if s.Exc != nil {
		c.expr(s.Exc)
		n++
		if s.Cause != nil {
			c.expr(s.Cause)
			n++
		}
	}
	c.u.pos = s.Pos()
	c.u.emit(RAISE_VARARGS, n)
}

// assert raises AssertionError where the test is false. What raises stands, for tracebacks, where the test does; what loads the exception,
// where its last comparison does.
func (c *compiler) assert(s *syntax.Assert) {
	if c.level >= NoAsserts {
		return
	}
	u := c.u
	end := u.newLabel()
	c.jumpIf(s.Test, end, true)
	at := s.Pos()
	if k := lastCompare(s.Test); k != nil {
		at = k.Pos()
	}
	u.pos = at
	u.emit(LOAD_ASSERTION_ERROR, 0)
	if s.Msg != nil {
		c.expr(s.Msg)
		u.pos = s.Test.Pos()
		u.emit(PRECALL, 0)
		u.emit(CALL, 0)
	}
	u.pos = s.Test.Pos()
	u.emit(RAISE_VARARGS, 1)
	u.mark(end)
}

// importStmt binds the top package, or, under another name, the module itself: that is then taken out of its packages one by one.
func (c *compiler) importStmt(s *syntax.Import) {
	u := c.u
	for _, a := range s.Names {
		c.loadConst(int64(0))
		c.loadConst(nil)
		u.emit(IMPORT_NAME, c.name(a.Name))
		if a.AsName == "" {
			top, _, _ := strings.Cut(a.Name, ".")
			c.storeName(top)
			continue
		}
		parts := strings.Split(a.Name, ".")
		for _, p := range parts[1:] {
			u.emit(IMPORT_FROM, c.name(p))
			u.emit(SWAP, 2)
			u.emit(POP_TOP, 0)
		}
		c.storeName(a.AsName)
	}
}

// importFrom takes each name out of the module, which is dropped at last.
func (c *compiler) importFrom(s *syntax.ImportFrom) {
	u := c.u
	c.loadConst(int64(s.Level))
	var names Tuple
	for _, a := range s.Names {
		names = append(names, a.Name)
	}
	c.loadConst(names)
	u.emit(IMPORT_NAME, c.name(s.Module))
	if s.Names[0].Name == "*" {
		u.emit(IMPORT_STAR, 0)
		return
	}
	for _, a := range s.Names {
		u.emit(IMPORT_FROM, c.name(a.Name))
		if a.AsName != "" {
			c.storeName(a.AsName)
		} else {
			c.storeName(a.Name)
		}
	}
	u.emit(POP_TOP, 0)
}

// store pops a value into a target.
func (c *compiler) store(t syntax.Expr) {
	defer c.at(t)()
	u := c.u
	switch t := t.(type) {
	case *syntax.Name:
		c.storeName(t.Id)
	case *syntax.Attribute:
		c.expr(t.Value)
		u.pos = t.Pos()
		u.pos = nameSpan(u.pos, t)
		u.emit(STORE_ATTR, c.name(Mangle(u.scope.class, t.Attr)))
	case *syntax.Subscript:
		c.expr(t.Value)
		c.expr(t.Index)
		u.pos = t.Pos()
		u.emit(STORE_SUBSCR, 0)
	case *syntax.Tuple:
		c.unpack(t.Elts)
	case *syntax.List:
		c.unpack(t.Elts)
	case *syntax.Starred:
		c.store(t.Value)
	default:
		panic(fmt.Sprintf("store to %T", t))
	}
}

// unpack pops an iterable into several targets, one of which may be starred.
func (c *compiler) unpack(elts []syntax.Expr) {
	star := -1
	for i, e := range elts {
		if _, ok := e.(*syntax.Starred); ok {
			star = i
		}
	}
	if star < 0 {
		c.u.emit(UNPACK_SEQUENCE, len(elts))
	} else {
		if star >= 1<<8 || len(elts)-star-1 >= 1<<23 {
			c.fail(elts[0].Pos(), "too many expressions in star-unpacking assignment")
		}
		c.u.emit(UNPACK_EX, star|(len(elts)-star-1)<<8)
	}
	for _, e := range elts {
		c.store(e)
	}
}

// del deletes a target; of a tuple, each part.
func (c *compiler) del(t syntax.Expr) {
	defer c.at(t)()
	u := c.u
	switch t := t.(type) {
	case *syntax.Name:
		c.deleteName(t.Id)
	case *syntax.Attribute:
		c.expr(t.Value)
		u.pos = t.Pos()
		u.pos = nameSpan(u.pos, t)
		u.emit(DELETE_ATTR, c.name(Mangle(u.scope.class, t.Attr)))
	case *syntax.Subscript:
		c.expr(t.Value)
		c.expr(t.Index)
		u.pos = t.Pos()
		u.emit(DELETE_SUBSCR, 0)
	case *syntax.Tuple:
		for _, e := range t.Elts {
			c.del(e)
		}
	case *syntax.List:
		for _, e := range t.Elts {
			c.del(e)
		}
	}
}

// augAssign evaluates the target's parts once, and uses copies of them to read it and to store.
func (c *compiler) augAssign(s *syntax.AugAssign) {
	u := c.u
	op := slices.Index(BinOps, s.Op) + InPlace
	switch t := s.Target.(type) {
	case *syntax.Name:
		c.expr(t)
		c.expr(s.Value)
		u.pos = s.Pos()
		u.emit(BINARY_OP, op)
		u.pos = t.Pos()
		c.storeName(t.Id)
	case *syntax.Attribute:
		n := c.name(Mangle(u.scope.class, t.Attr))
		c.expr(t.Value)
		u.pos = t.Pos()
		u.emit(COPY, 1)
		u.pos = nameSpan(u.pos, t)
		u.emit(LOAD_ATTR, n)
		c.expr(s.Value)
		u.pos = s.Pos()
		u.emit(BINARY_OP, op)
		u.pos = nameSpan(t.Pos(), t)
		u.emit(SWAP, 2)
		u.emit(STORE_ATTR, n)
	case *syntax.Subscript:
		c.expr(t.Value)
		c.expr(t.Index)
		u.pos = t.Pos()
		u.emit(COPY, 2)
		u.emit(COPY, 2)
		u.emit(BINARY_SUBSCR, 0)
		c.expr(s.Value)
		u.pos = s.Pos()
		u.emit(BINARY_OP, op)
		u.pos = t.Pos()
		u.emit(SWAP, 3)
		u.emit(SWAP, 2)
		u.emit(STORE_SUBSCR, 0)
	}
}

// annotation pushes an annotation's value: its text under `from __future__ import annotations`.
func (c *compiler) annotation(e syntax.Expr) {
	if c.future {
		c.loadConst(Unparse(e))
		return
	}
	if s, ok := e.(*syntax.Starred); ok {
		c.expr(s.Value)
		c.u.emit(UNPACK_SEQUENCE, 1)
		return
	}
	c.expr(e)
}

// annAssign notes the annotation of a plain name in __annotations__, but not in a function. Any other annotation is evaluated and dropped.
func (c *compiler) annAssign(s *syntax.AnnAssign) {
	u := c.u
	if s.Value != nil {
		c.expr(s.Value)
		c.store(s.Target)
	}
	n, ok := s.Target.(*syntax.Name)
	if u.scope.function() {
		return
	}
	if ok && s.Simple {
		c.annotation(s.Annotation)
		u.pos = s.Pos()
		u.emit(LOAD_NAME, c.name("__annotations__"))
		c.loadConst(Mangle(u.scope.class, n.Id))
		u.emit(STORE_SUBSCR, 0)
		return
	}
	if !c.future {
		c.expr(s.Annotation)
		u.emit(POP_TOP, 0)
	}
}

// lastCompare is the last comparison that a jump on e makes of e itself or its parts: CPython takes what follows to be there.
func lastCompare(e syntax.Expr) syntax.Expr {
	parts := []syntax.Expr{}
	switch e := e.(type) {
	case *syntax.Compare:
		return e
	case *syntax.UnaryOp:
		if e.Op == "not" {
			parts = append(parts, e.Operand)
		}
	case *syntax.BoolOp:
		parts = e.Values
	case *syntax.IfExp:
		parts = []syntax.Expr{e.Test, e.Body, e.Else}
	}
	for i := len(parts) - 1; i >= 0; i-- {
		if k := lastCompare(parts[i]); k != nil {
			return k
		}
	}
	return nil
}

// while has the test twice, before the loop and at the end of its body, as CPython's code does.
func (c *compiler) while(s *syntax.While) {
	u := c.u
	start, body, els, end := u.newLabel(), u.newLabel(), u.newLabel(), u.newLabel()
	u.mark(start)
	u.frames = append(u.frames, frameBlock{kind: whileLoop, start: start, end: end})
	c.jumpIf(s.Test, els, false)
	u.mark(body)
	c.stmts(s.Body)
	// The test is repeated at the bottom, as CPython does.
	u.pos = s.Pos()
	if c.constTruth(s.Test) == 1 {
		u.jump(JUMP_BACKWARD, body)
	} else {
		c.jumpIf(s.Test, body, true)
	}
	u.frames = u.frames[:len(u.frames)-1]
	u.mark(els)
	c.stmts(s.Else)
	u.mark(end)
}

// forStmt keeps the iterator on the stack while the loop runs; FOR_ITER pops it at the end, break does so itself.
func (c *compiler) forStmt(s *syntax.For) {
	u := c.u
	start, els, end := u.newLabel(), u.newLabel(), u.newLabel()
	c.expr(s.Iter)
	u.pos = s.Pos()
	if s.Async {
		c.asyncFor(s)
		return
	}
	u.emit(GET_ITER, 0)
	u.mark(start)
	u.frames = append(u.frames, frameBlock{kind: forLoop, start: start, end: end})
	u.pos = s.Pos()
	u.jump(FOR_ITER, els)
	c.store(s.Target)
	c.stmts(s.Body)
	u.pos = noPos // the jump is of the line that comes before it
	u.jump(JUMP_BACKWARD, start)
	u.frames = u.frames[:len(u.frames)-1]
	u.mark(els)
	c.stmts(s.Else)
	u.mark(end)
}

// Tree compiles statements that a program has put together; for Eval there is one, an expression. Positions are the nodes' own.
func (o Optimize) Tree(filename string, body []syntax.Stmt, mode Mode) (*Code, error) {
	f, err := syntax.NewFile(filename, body)
	if err != nil {
		return nil, err
	}
	if mode == Eval {
		e := body[0].(*syntax.ExprStmt).Value
		r := &syntax.Return{Value: e}
		r.Span = e.Pos()
		body = []syntax.Stmt{r}
	}
	return o.compile(f, body, mode)
}
