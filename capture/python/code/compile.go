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
	start label // loops: continue goes here
	end   label // loops: break goes here
	reg   *region
	final []syntax.Stmt
	name  string
	pos   syntax.Span
}

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

type compiler struct {
	file   *syntax.File
	u      *unit
	src    *Source
	future bool // annotations stay text
	mode   Mode
}

// Compile compiles a module.
func Compile(f *syntax.File) (*Code, error) { return compile(f, f.Body, Exec) }

// CompileSource parses and compiles in one step. Errors of the source are *syntax.Error.
func CompileSource(filename, src string, mode Mode) (*Code, error) {
	if mode == Eval {
		e, f, err := syntax.ParseExpr(filename, src)
		if err != nil {
			return nil, err
		}
		r := &syntax.Return{Value: e}
		r.Span = e.Pos()
		return compile(f, []syntax.Stmt{r}, Eval)
	}
	f, err := syntax.Parse(filename, src)
	if err != nil {
		return nil, err
	}
	return compile(f, f.Body, mode)
}

func compile(f *syntax.File, body []syntax.Stmt, mode Mode) (co *Code, err error) {
	c := &compiler{file: f, src: &Source{f.Source}, future: f.Future["annotations"], mode: mode}
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
	c.enter(root, "<module>", 1)
	c.u.emit(RESUME, 0)
	if root.annots {
		c.u.emit(SETUP_ANNOTATIONS, 0)
	}
	if mode == Exec {
		body = c.docstring(body)
	}
	c.stmts(body)
	return c.leave(true), nil
}

func (c *compiler) enter(s *scope, name string, line int) {
	u := &unit{outer: c.u, scope: s, consts: map[any]int{}, names: map[string]int{}}
	u.pos = syntax.Span{Line: int32(line), Col: -1, EndLine: int32(line), EndCol: -1}
	co := &Code{Name: name, QualName: name, Filename: c.file.Filename, FirstLine: line, Source: c.src}
	u.code = co
	if o := c.u; o != nil {
		// A function that is declared global keeps its bare name.
		if !(o.scope.globals[mangle(o.scope.class, name)] && s.kind != compScope) {
			switch {
			case o.scope.function():
				co.QualName = o.code.QualName + ".<locals>." + name
			case o.scope.kind == classScope:
				co.QualName = o.code.QualName + "." + name
			}
		}
		if o.scope.function() {
			co.Flags |= Nested
		}
	}
	if c.future {
		co.Flags |= Annotations
	}
	if s.function() {
		co.Flags |= Optimized | NewLocals
		if s.gen {
			co.Flags |= Generator
		}
		co.VarNames = slices.Clone(s.params)
		for _, n := range s.locals {
			if !slices.Contains(co.VarNames, n) && !s.cells[n] {
				co.VarNames = append(co.VarNames, n)
			}
		}
	}
	co.CellVars = sorted(s.cells)
	co.FreeVars = sorted(s.free)
	c.u = u
	if len(co.FreeVars) > 0 {
		u.emit(COPY_FREE_VARS, len(co.FreeVars))
	}
	for _, n := range co.CellVars {
		u.emit(MAKE_CELL, co.CellSlot(n))
	}
	if s.gen {
		u.pos.Line = int32(line)
		u.emit(RETURN_GENERATOR, 0)
		u.emit(POP_TOP, 0)
	}
}

// leave finishes the current code object. Without an explicit return it returns None.
func (c *compiler) leave(addReturn bool) *Code {
	u := c.u
	if addReturn {
		if len(u.instrs) > 0 {
			last := u.instrs[len(u.instrs)-1]
			u.pos.Line, u.pos.EndLine = last.Line, last.EndLine
		}
		u.emit(LOAD_CONST, c.constant(nil))
		u.emit(RETURN_VALUE, 0)
	}
	if err := u.assemble(); err != nil {
		panic(err.Error())
	}
	c.u = u.outer
	return u.code
}

type floatKey struct{ bits string }

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

func (c *compiler) constant(v any) int {
	u := c.u
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

func (c *compiler) loadConst(v any) { c.u.emit(LOAD_CONST, c.constant(v)) }

func (c *compiler) name(n string) int {
	u := c.u
	if i, ok := u.names[n]; ok {
		return i
	}
	u.names[n] = len(u.code.Names)
	u.code.Names = append(u.code.Names, n)
	return len(u.code.Names) - 1
}

func (c *compiler) at(n syntax.Node) func() {
	old := c.u.pos
	c.u.pos = n.Pos()
	u := c.u
	return func() { u.pos = old }
}

func (c *compiler) fail(n syntax.Node, format string, args ...any) {
	sp := n.Pos()
	lines := strings.SplitAfter(c.file.Source, "\n")
	text := ""
	if int(sp.Line) <= len(lines) && sp.Line > 0 {
		text = lines[sp.Line-1]
	}
	panic(&syntax.Error{Kind: "SyntaxError", Msg: fmt.Sprintf(format, args...), Filename: c.file.Filename, Line: int(sp.Line), Offset: int(sp.Col) + 1,
		EndLine: int(sp.EndLine), EndOffset: int(sp.EndCol) + 1, Text: text})
}

// docstring stores a body's leading string in __doc__.
func (c *compiler) docstring(body []syntax.Stmt) []syntax.Stmt {
	if s, ok := docOf(body); ok {
		defer c.at(body[0])()
		c.loadConst(s)
		c.u.emit(STORE_NAME, c.name("__doc__"))
		return body[1:]
	}
	return body
}

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

func (c *compiler) loadName(n string) {
	n = mangle(c.u.scope.class, n)
	u := c.u
	switch u.scope.access(n) {
	case accFast:
		u.emit(LOAD_FAST, slices.Index(u.code.VarNames, n))
	case accGlobal:
		if u.scope.function() {
			u.emit(LOAD_GLOBAL, c.name(n)<<1)
		} else {
			u.emit(LOAD_GLOBAL, c.name(n)<<1)
		}
	case accCell:
		if u.scope.kind == classScope && n != "__class__" {
			u.emit(LOAD_NAME, c.name(n))
			return
		}
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

func (c *compiler) nameOp(n string, fast, global, deref, name Op) {
	n = mangle(c.u.scope.class, n)
	u := c.u
	acc := u.scope.access(n)
	if u.scope.kind == classScope && (acc == accCell || acc == accFree) && u.scope.bound[n] && n != "__class__" {
		acc = accName
	}
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

func (c *compiler) stmt(s syntax.Stmt) {
	u := c.u
	u.pos = s.Pos()
	switch s := s.(type) {
	case *syntax.ExprStmt:
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
	case *syntax.Assign:
		c.expr(s.Value)
		for i, t := range s.Targets {
			if i < len(s.Targets)-1 {
				u.emit(COPY, 1)
			}
			c.store(t)
		}
	case *syntax.AugAssign:
		c.augAssign(s)
	case *syntax.AnnAssign:
		c.annAssign(s)
	case *syntax.Return:
		c.ret(s)
	case *syntax.If:
		els, end := u.newLabel(), u.newLabel()
		c.jumpIf(s.Test, els, false)
		c.stmts(s.Body)
		if len(s.Else) > 0 {
			u.jump(JUMP_FORWARD, end)
		}
		u.mark(els)
		c.stmts(s.Else)
		u.mark(end)
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
	case *syntax.Global, *syntax.Nonlocal:
	case *syntax.Delete:
		for _, t := range s.Targets {
			c.del(t)
		}
	case *syntax.Raise:
		n := 0
		if s.Exc != nil {
			c.expr(s.Exc)
			n++
			if s.Cause != nil {
				c.expr(s.Cause)
				n++
			}
		}
		u.pos = s.Pos()
		u.emit(RAISE_VARARGS, n)
	case *syntax.Assert:
		end := u.newLabel()
		c.jumpIf(s.Test, end, true)
		u.emit(LOAD_ASSERTION_ERROR, 0)
		if s.Msg != nil {
			c.expr(s.Msg)
			u.emit(PRECALL, 0)
			u.emit(CALL, 0)
		}
		u.pos = s.Test.Pos()
		u.emit(RAISE_VARARGS, 1)
		u.mark(end)
	case *syntax.Import:
		for _, a := range s.Names {
			c.loadConst(int64(0))
			c.loadConst(nil)
			u.emit(IMPORT_NAME, c.name(a.Name))
			if a.AsName != "" {
				parts := strings.Split(a.Name, ".")
				for _, p := range parts[1:] {
					u.emit(IMPORT_FROM, c.name(p))
					u.emit(SWAP, 2)
					u.emit(POP_TOP, 0)
				}
				c.storeName(a.AsName)
			} else {
				top, _, _ := strings.Cut(a.Name, ".")
				c.storeName(top)
			}
		}
	case *syntax.ImportFrom:
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

func (c *compiler) store(t syntax.Expr) {
	defer c.at(t)()
	u := c.u
	switch t := t.(type) {
	case *syntax.Name:
		c.storeName(t.Id)
	case *syntax.Attribute:
		c.expr(t.Value)
		u.pos = t.Pos()
		u.emit(STORE_ATTR, c.name(mangle(u.scope.class, t.Attr)))
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
		c.u.emit(UNPACK_EX, star|(len(elts)-star-1)<<8)
	}
	for _, e := range elts {
		c.store(e)
	}
}

func (c *compiler) del(t syntax.Expr) {
	defer c.at(t)()
	u := c.u
	switch t := t.(type) {
	case *syntax.Name:
		c.deleteName(t.Id)
	case *syntax.Attribute:
		c.expr(t.Value)
		u.pos = t.Pos()
		u.emit(DELETE_ATTR, c.name(mangle(u.scope.class, t.Attr)))
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
		n := c.name(mangle(u.scope.class, t.Attr))
		c.expr(t.Value)
		u.pos = t.Pos()
		u.emit(COPY, 1)
		u.emit(LOAD_ATTR, n)
		c.expr(s.Value)
		u.pos = s.Pos()
		u.emit(BINARY_OP, op)
		u.pos = t.Pos()
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
		c.loadConst(mangle(u.scope.class, n.Id))
		u.emit(STORE_SUBSCR, 0)
		return
	}
	if !c.future {
		c.expr(s.Annotation)
		u.emit(POP_TOP, 0)
	}
}

func (c *compiler) while(s *syntax.While) {
	u := c.u
	start, body, els, end := u.newLabel(), u.newLabel(), u.newLabel(), u.newLabel()
	u.mark(start)
	u.frames = append(u.frames, frameBlock{kind: whileLoop, start: start, end: end})
	c.jumpIf(s.Test, els, false)
	u.mark(body)
	c.stmts(s.Body)
	// The test is repeated at the bottom, as CPython does.
	if constTruth(s.Test) == 1 {
		u.jump(JUMP_BACKWARD, body)
	} else {
		u.pos = s.Pos()
		c.jumpIf(s.Test, body, true)
	}
	u.frames = u.frames[:len(u.frames)-1]
	u.mark(els)
	c.stmts(s.Else)
	u.mark(end)
}

func (c *compiler) forStmt(s *syntax.For) {
	u := c.u
	start, els, end := u.newLabel(), u.newLabel(), u.newLabel()
	c.expr(s.Iter)
	u.pos = s.Pos()
	u.emit(GET_ITER, 0)
	u.mark(start)
	u.frames = append(u.frames, frameBlock{kind: forLoop, start: start, end: end})
	u.pos = s.Pos()
	u.jump(FOR_ITER, els)
	c.store(s.Target)
	c.stmts(s.Body)
	u.pos = s.Iter.Pos()
	u.pos.Col = -1
	u.jump(JUMP_BACKWARD, start)
	u.frames = u.frames[:len(u.frames)-1]
	u.mark(els)
	c.stmts(s.Else)
	u.mark(end)
}

// unwind emits what leaving block b takes; keep says that a value lies on top that must stay there.
func (c *compiler) unwind(b frameBlock, keep bool) {
	u := c.u
	switch b.kind {
	case whileLoop:
	case forLoop, popValueBlock:
		if keep {
			u.emit(SWAP, 2)
		}
		u.emit(POP_TOP, 0)
	case tryBlock:
		u.region = b.reg.outer
	case finallyTry:
		u.region = b.reg.outer
		saved := u.frames
		if keep {
			u.frames = append(slices.Clone(u.frames), frameBlock{kind: popValueBlock})
		}
		pos := u.pos
		c.stmts(b.final)
		u.pos = pos
		u.frames = saved
	case finallyEnd:
		if b.reg != nil {
			u.region = b.reg.outer
		}
		if keep {
			u.emit(SWAP, 2)
		}
		u.emit(POP_TOP, 0) // the exception
		if keep {
			u.emit(SWAP, 2)
		}
		u.emit(POP_EXCEPT, 0)
	case withBlock:
		u.region = b.reg.outer
		pos := u.pos
		u.pos = b.pos
		if keep {
			u.emit(SWAP, 2)
		}
		c.exitNones()
		u.emit(POP_TOP, 0)
		u.pos = pos
	case handlerBlock, handlerNamed:
		if b.reg != nil {
			u.region = b.reg.outer
			if b.kind == handlerNamed {
				u.region = b.reg.outer.outer
			}
		}
		if keep {
			u.emit(SWAP, 2)
		}
		u.emit(POP_EXCEPT, 0)
		if b.kind == handlerNamed {
			c.loadConst(nil)
			c.storeName(b.name)
			c.deleteName(b.name)
		}
	}
}

// exitNones calls the __exit__ on the stack with three Nones.
func (c *compiler) exitNones() {
	u := c.u
	c.loadConst(nil)
	c.loadConst(nil)
	c.loadConst(nil)
	u.emit(PRECALL, 2)
	u.emit(CALL, 2)
}

// unwindTo leaves blocks from the innermost to (not including) index stop.
func (c *compiler) unwindTo(stop int, keep bool) func() {
	u := c.u
	frames, reg := u.frames, u.region
	for i := len(frames) - 1; i > stop; i-- {
		u.frames = frames[:i]
		c.unwind(frames[i], keep)
	}
	return func() { u.frames, u.region = frames, reg }
}

func (c *compiler) ret(s *syntax.Return) {
	u := c.u
	if u.scope.gen && u.scope.kind == functionScope && false {
		return
	}
	var k any
	isConst := s.Value == nil
	if v, ok := c.foldable(s.Value); ok && s.Value != nil {
		k, isConst = v, true
	}
	if !isConst {
		c.expr(s.Value)
	}
	u.pos = s.Pos()
	restore := c.unwindTo(-1, !isConst)
	if isConst {
		c.loadConst(k)
	}
	u.emit(RETURN_VALUE, 0)
	restore()
}

func (c *compiler) breakContinue(brk bool) {
	u := c.u
	i := len(u.frames) - 1
	for i >= 0 && u.frames[i].kind != whileLoop && u.frames[i].kind != forLoop {
		i--
	}
	if i < 0 {
		return
	}
	loop := u.frames[i]
	restore := c.unwindTo(i, false)
	if brk {
		if loop.kind == forLoop {
			u.emit(POP_TOP, 0)
		}
		u.jump(JUMP_FORWARD, loop.end)
	} else {
		u.jump(JUMP_BACKWARD, loop.start)
	}
	restore()
}

func (c *compiler) push(b frameBlock) { c.u.frames = append(c.u.frames, b) }
func (c *compiler) pop()              { c.u.frames = c.u.frames[:len(c.u.frames)-1] }

// cleanup is the tail of every handler: restore the exception state and raise again.
func (c *compiler) cleanup(l label) {
	u := c.u
	u.mark(l)
	pos := u.pos
	u.pos.Col = -1
	u.emit(COPY, 3)
	u.emit(POP_EXCEPT, 0)
	u.emit(RERAISE, 1)
	u.pos = pos
}

func (c *compiler) tryFinally(s *syntax.Try) {
	u := c.u
	handler, clean, end := u.newLabel(), u.newLabel(), u.newLabel()
	u.emit(NOP, 0)
	u.pushRegion(handler, false, 0)
	c.push(frameBlock{kind: finallyTry, reg: u.region, final: s.Final})
	if len(s.Handlers) > 0 {
		c.handlers(s)
	} else {
		c.stmts(s.Body)
		c.stmts(s.Else)
	}
	c.pop()
	u.popRegion()
	c.stmts(s.Final)
	u.jump(JUMP_FORWARD, end)
	u.mark(handler)
	u.pushRegion(clean, true, 0)
	u.emit(PUSH_EXC_INFO, 0)
	c.push(frameBlock{kind: finallyEnd, reg: u.region})
	c.stmts(s.Final)
	c.pop()
	u.emit(RERAISE, 0)
	u.popRegion()
	c.cleanup(clean)
	u.mark(end)
}

// handlers emits a try with except or except* clauses.
func (c *compiler) handlers(s *syntax.Try) {
	if s.Star {
		c.tryStar(s)
	} else {
		c.tryExcept(s)
	}
}

func (c *compiler) tryExcept(s *syntax.Try) {
	u := c.u
	handler, clean, end := u.newLabel(), u.newLabel(), u.newLabel()
	u.emit(NOP, 0)
	u.pushRegion(handler, false, 0)
	c.push(frameBlock{kind: tryBlock, reg: u.region})
	c.stmts(s.Body)
	c.pop()
	u.popRegion()
	c.stmts(s.Else)
	u.jump(JUMP_FORWARD, end)
	u.mark(handler)
	u.pushRegion(clean, true, 0)
	u.emit(PUSH_EXC_INFO, 0)
	reg := u.region
	for _, h := range s.Handlers {
		u.pos = h.Span
		next := u.newLabel()
		if h.Type != nil {
			c.expr(h.Type)
			u.pos = h.Type.Pos()
			u.emit(CHECK_EXC_MATCH, 0)
			u.jump(POP_JUMP_FORWARD_IF_FALSE, next)
			u.pos = h.Span
		}
		if h.Name != "" {
			c.storeName(h.Name)
			inner := u.newLabel()
			u.pushRegion(inner, true, 0)
			c.push(frameBlock{kind: handlerNamed, reg: u.region, name: h.Name})
			c.stmts(h.Body)
			c.pop()
			u.popRegion()
			u.region = reg.outer
			u.emit(POP_EXCEPT, 0)
			c.loadConst(nil)
			c.storeName(h.Name)
			c.deleteName(h.Name)
			u.jump(JUMP_FORWARD, end)
			u.region = reg
			u.mark(inner)
			u.pos.Col = -1
			c.loadConst(nil)
			c.storeName(h.Name)
			c.deleteName(h.Name)
			u.emit(RERAISE, 1)
		} else {
			u.emit(POP_TOP, 0)
			c.push(frameBlock{kind: handlerBlock, reg: reg})
			c.stmts(h.Body)
			c.pop()
			u.region = reg.outer
			u.emit(POP_EXCEPT, 0)
			u.jump(JUMP_FORWARD, end)
			u.region = reg
		}
		u.mark(next)
	}
	u.emit(RERAISE, 0)
	u.popRegion()
	c.cleanup(clean)
	u.mark(end)
}

func (c *compiler) with(s *syntax.With, i int) {
	u := c.u
	it := s.Items[i]
	handler, clean, end, suppress := u.newLabel(), u.newLabel(), u.newLabel(), u.newLabel()
	c.expr(it.Context)
	u.pos = it.Context.Pos()
	u.emit(BEFORE_WITH, 0)
	u.pushRegion(handler, true, 1)
	reg := u.region
	c.push(frameBlock{kind: withBlock, reg: reg, pos: it.Context.Pos()})
	if it.Vars != nil {
		c.store(it.Vars)
	} else {
		u.emit(POP_TOP, 0)
	}
	if i+1 < len(s.Items) {
		c.with(s, i+1)
	} else {
		c.stmts(s.Body)
	}
	c.pop()
	u.popRegion()
	u.pos = it.Context.Pos()
	c.exitNones()
	u.emit(POP_TOP, 0)
	u.jump(JUMP_FORWARD, end)
	u.mark(handler)
	u.pushRegion(clean, true, 0)
	u.emit(PUSH_EXC_INFO, 0)
	u.emit(WITH_EXCEPT_START, 0)
	u.jump(POP_JUMP_FORWARD_IF_TRUE, suppress)
	u.emit(RERAISE, 2)
	u.mark(suppress)
	u.emit(POP_TOP, 0)
	u.popRegion()
	u.emit(POP_EXCEPT, 0)
	u.emit(POP_TOP, 0)
	u.emit(POP_TOP, 0)
	u.jump(JUMP_FORWARD, end)
	c.cleanup(clean)
	u.mark(end)
}

// Functions and classes.

func (c *compiler) argFlags(a *syntax.Arguments, returns syntax.Expr, annotated bool) int {
	u := c.u
	flags := 0
	if len(a.Defaults) > 0 {
		flags |= 1
		var ks Tuple
		all := true
		for _, d := range a.Defaults {
			k, ok := c.foldable(d)
			if !ok {
				all = false
				break
			}
			ks = append(ks, k)
		}
		if all {
			c.loadConst(ks)
		} else {
			for _, d := range a.Defaults {
				c.expr(d)
			}
			u.emit(BUILD_TUPLE, len(a.Defaults))
		}
	}
	var keys Tuple
	for i, d := range a.KwDefaults {
		if d != nil {
			c.expr(d)
			keys = append(keys, mangle(u.scope.class, a.KwOnly[i].Name))
		}
	}
	if len(keys) > 0 {
		flags |= 2
		c.loadConst(keys)
		u.emit(BUILD_CONST_KEY_MAP, len(keys))
	}
	if !annotated {
		return flags
	}
	n := 0
	ann := func(name string, e syntax.Expr) {
		if e == nil {
			return
		}
		c.loadConst(mangle(u.scope.class, name))
		c.annotation(e)
		n += 2
	}
	for _, x := range allArgs(a) {
		ann(x.Name, x.Annotation)
	}
	ann("return", returns)
	if n > 0 {
		u.emit(BUILD_TUPLE, n)
		flags |= 4
	}
	return flags
}

func setArgs(co *Code, a *syntax.Arguments) {
	co.PosOnly = len(a.PosOnly)
	co.ArgCount = len(a.PosOnly) + len(a.Args)
	co.KwOnly = len(a.KwOnly)
	if a.Vararg != nil {
		co.Flags |= VarArgs
	}
	if a.Kwarg != nil {
		co.Flags |= VarKeywords
	}
}

func (c *compiler) makeClosure(co *Code, flags int) {
	u := c.u
	if len(co.FreeVars) > 0 {
		for _, n := range co.FreeVars {
			slot := u.code.CellSlot(n)
			if slot < 0 { // a bug of the symbol table, which hands every free name through the scopes between
				panic("no cell for " + n + " in " + u.code.QualName)
			}
			u.emit(LOAD_CLOSURE, slot)
		}
		u.emit(BUILD_TUPLE, len(co.FreeVars))
		flags |= 8
	}
	c.loadConst(co)
	u.emit(MAKE_FUNCTION, flags)
}

func (c *compiler) funcDef(s *syntax.FunctionDef) {
	u := c.u
	for _, d := range s.Decorators {
		c.expr(d)
	}
	line := int(s.Line)
	if len(s.Decorators) > 0 {
		line = int(s.Decorators[0].Pos().Line)
	}
	u.pos = s.Pos()
	flags := c.argFlags(s.Args, s.Returns, true)
	c.enter(u.scope.children[s], s.Name, line)
	setArgs(c.u.code, s.Args)
	if doc, ok := docOf(s.Body); ok {
		c.constant(doc)
	} else {
		c.constant(nil)
	}
	c.u.emit(RESUME, 0)
	c.stmts(s.Body)
	co := c.leave(true)
	u.pos = s.Pos()
	c.makeClosure(co, flags)
	for i := len(s.Decorators) - 1; i >= 0; i-- {
		u.pos = s.Decorators[i].Pos()
		u.emit(PRECALL, 0)
		u.emit(CALL, 0)
	}
	u.pos = s.Pos()
	c.storeName(s.Name)
}

func (c *compiler) lambda(e *syntax.Lambda) {
	u := c.u
	flags := c.argFlags(e.Args, nil, false)
	c.enter(u.scope.children[e], "<lambda>", int(e.Line))
	setArgs(c.u.code, e.Args)
	c.constant(nil)
	c.u.emit(RESUME, 0)
	c.expr(e.Body)
	c.u.pos = e.Body.Pos()
	gen := c.u.scope.gen
	c.u.emit(RETURN_VALUE, 0)
	_ = gen
	co := c.leave(false)
	u.pos = e.Pos()
	c.makeClosure(co, flags)
}

func (c *compiler) classDef(s *syntax.ClassDef) {
	u := c.u
	for _, d := range s.Decorators {
		c.expr(d)
	}
	line := int(s.Line)
	if len(s.Decorators) > 0 {
		line = int(s.Decorators[0].Pos().Line)
	}
	sc := u.scope.children[s]
	c.enter(sc, s.Name, line)
	v := c.u
	v.emit(RESUME, 0)
	v.emit(LOAD_NAME, c.name("__name__"))
	v.emit(STORE_NAME, c.name("__module__"))
	c.loadConst(v.code.QualName)
	v.emit(STORE_NAME, c.name("__qualname__"))
	if sc.annots {
		v.emit(SETUP_ANNOTATIONS, 0)
	}
	c.stmts(c.docstring(s.Body))
	if sc.cells["__class__"] {
		v.emit(LOAD_CLOSURE, v.code.CellSlot("__class__"))
		v.emit(COPY, 1)
		v.emit(STORE_NAME, c.name("__classcell__"))
		v.emit(RETURN_VALUE, 0)
	}
	co := c.leave(!sc.cells["__class__"])
	u.pos = s.Pos()
	u.emit(PUSH_NULL, 0)
	u.emit(LOAD_BUILD_CLASS, 0)
	c.makeClosure(co, 0)
	c.loadConst(s.Name)
	c.callArgs(2, s.Bases, s.Keywords)
	for i := len(s.Decorators) - 1; i >= 0; i-- {
		u.pos = s.Decorators[i].Pos()
		u.emit(PRECALL, 0)
		u.emit(CALL, 0)
	}
	u.pos = s.Pos()
	c.storeName(s.Name)
}
