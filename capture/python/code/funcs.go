package code

import (
	"whittle/capture/python/syntax"
)

// Functions and classes.
//
// Making a function is an expression: defaults and annotations are evaluated where the def stands, its code is a constant, and MAKE_FUNCTION
// puts them together with the cells that it shares.

// argFlags pushes what a new function takes besides its code: defaults, defaults of keyword-only parameters, annotations. The bits of
// MAKE_FUNCTION for what is there are the result.
func (c *compiler) argFlags(a *syntax.Arguments, returns syntax.Expr, annotated bool) int {
	u := c.u
	flags := 0
	if len(a.Defaults) > 0 {
		flags |= 1
		for _, d := range a.Defaults {
			c.expr(d)
		}
		u.emit(BUILD_TUPLE, len(a.Defaults))
	}
	var keys Tuple
	for i, d := range a.KwDefaults {
		if d != nil {
			c.expr(d)
			keys = append(keys, Mangle(u.scope.class, a.KwOnly[i].Name))
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
		c.loadConst(Mangle(u.scope.class, name))
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

// setArgs counts the parameters.
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

// makeClosure pushes a function of a code object, with the cells of the variables that it shares with functions around it, in the order of
// its FreeVars: its COPY_FREE_VARS puts them into its frame in that order.
func (c *compiler) makeClosure(co *Code, flags int) {
	u := c.u
	if len(co.FreeVars) > 0 {
		for _, n := range co.FreeVars {
			slot := u.code.CellSlot(n)
			if slot < 0 { // the symbol table hands every free name through the scopes between, so this is a bug of it; compile makes it an error
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

// funcDef compiles a function. Decorators are evaluated first and called last, innermost first. The first constant is the docstring, or
// None.
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
	body := s.Body
	doc, ok := docOf(body)
	if ok {
		body = body[1:]
	}
	if ok && c.level < NoDocs {
		c.constant(doc)
	} else {
		c.constant(nil)
	}
	c.u.emit(RESUME, 0)
	c.stmts(body)
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

// lambda compiles a function of one expression.
func (c *compiler) lambda(e *syntax.Lambda) {
	u := c.u
	flags := c.argFlags(e.Args, nil, false)
	c.enter(u.scope.children[e], "<lambda>", int(e.Line))
	setArgs(c.u.code, e.Args)
	c.constant(nil)
	c.u.emit(RESUME, 0)
	start := c.u.pos
	c.expr(e.Body)
	c.u.pos = start
	c.u.emit(RETURN_VALUE, 0)
	co := c.leave(false)
	u.pos = e.Pos()
	c.makeClosure(co, flags)
}

// classDef compiles a class: its body is a function that __build_class__ calls with the class's namespace as its locals. It returns the cell
// of __class__ if a method needs that, so that the class can be put into it.
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
	if sc.classCell {
		v.emit(LOAD_CLOSURE, v.code.CellSlot("__class__"))
		v.emit(COPY, 1)
		v.emit(STORE_NAME, c.name("__classcell__"))
		v.emit(RETURN_VALUE, 0)
	}
	co := c.leave(!sc.classCell)
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
