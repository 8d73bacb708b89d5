package vm

// initCode gives code objects their attributes.
func initCode() {
	c := func(name string, get func(c *Code) Object) {
		addGetSet(CodeType, name, func(in *Interp, o Object) (Object, error) { return get(o.(*Code)), nil }, nil)
	}
	c("co_name", func(c *Code) Object { return Str(c.Name) })
	c("co_qualname", func(c *Code) Object { return Str(c.QualName) })
	c("co_filename", func(c *Code) Object { return Str(c.Filename) })
	c("co_firstlineno", func(c *Code) Object { return MakeInt(int64(c.FirstLine)) })
	c("co_argcount", func(c *Code) Object { return MakeInt(int64(c.ArgCount)) })
	c("co_posonlyargcount", func(c *Code) Object { return MakeInt(int64(c.PosOnly)) })
	c("co_kwonlyargcount", func(c *Code) Object { return MakeInt(int64(c.KwOnly)) })
	c("co_nlocals", func(c *Code) Object { return MakeInt(int64(len(c.VarNames))) })
	c("co_stacksize", func(c *Code) Object { return MakeInt(int64(c.Depth)) })
	c("co_flags", func(c *Code) Object { return MakeInt(int64(c.Flags)) })
	c("co_consts", func(c *Code) Object { return NewTuple(c.Consts...) })
	c("co_names", func(c *Code) Object { return strTuple(c.Names) })
	c("co_varnames", func(c *Code) Object { return strTuple(c.VarNames) })
	c("co_cellvars", func(c *Code) Object { return strTuple(c.CellVars) })
	c("co_freevars", func(c *Code) Object { return strTuple(c.FreeVars) })
	c("co_code", func(c *Code) Object { return Bytes(c.wire().Code) })
	c("_co_code_adaptive", func(c *Code) Object { return Bytes(c.wire().Code) })
	c("co_linetable", func(c *Code) Object { return Bytes(c.wire().LineTable) })
	c("co_exceptiontable", func(c *Code) Object { return Bytes(c.wire().ExcTable) })
	c("co_lnotab", func(c *Code) Object { return Bytes(c.lnotab()) })
	addMethod(CodeType, "co_positions", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		return in.Iter(NewList(args[0].(*Code).positions()...))
	})
	addMethod(CodeType, "co_lines", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		return in.Iter(NewList(args[0].(*Code).lineRanges()...))
	})
	addMethod(CodeType, "__repr__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		k := args[0].(*Code)
		return Str("<code object " + k.Name + " at " + in.addr(k) + ", file \"" + k.Filename + "\", line " + itoa(k.FirstLine) + ">"), nil
	})
	addMethod(CodeType, "__eq__", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		d, ok := args[1].(*Code)
		if !ok {
			return NotImplemented, nil
		}
		same, err := args[0].(*Code).equal(in, d)
		return MakeBool(same), err
	})
	addMethod(CodeType, "__hash__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		h, err := in.Hash(args[0])
		return MakeInt(int64(h)), err
	})
	addMethod(CodeType, "_varname_from_oparg", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		k := args[0].(*Code)
		i, err := in.Index(args[1])
		if err != nil {
			return nil, err
		}
		if i < 0 || int(i) >= k.NLocalsPlus() {
			return nil, in.Errorf(in.Exc.IndexError, "tuple index out of range")
		}
		return Str(k.LocalsPlusName(int(i))), nil
	})
	addMethod(CodeType, "replace", 0, -1, replaceCode)
	CodeType.New = newCode
}

func strTuple(ss []string) Object {
	items := make([]Object, len(ss))
	for i, s := range ss {
		items[i] = Str(s)
	}
	return NewTuple(items...)
}

// orNoneAt is a line or column, None for one that is not there.
func orNoneAt(n int32) Object {
	if n < 0 {
		return None
	}
	return MakeInt(int64(n))
}

// positions are the tuples of co_positions: the source range of each unit.
func (c *Code) positions() (out []Object) {
	w := c.wire()
	for i, ins := range c.Instrs {
		pos := NewTuple(orNoneAt(ins.Line), orNoneAt(ins.EndLine), orNoneAt(ins.Col), orNoneAt(ins.EndCol))
		if ins.Line < 0 || ins.Col < 0 {
			pos.Items[2], pos.Items[3] = None, None
		}
		for range w.Starts[i+1] - w.Starts[i] {
			out = append(out, pos)
		}
	}
	return out
}

// lineRanges are the tuples of co_lines: from which byte to which the code is of one line, a tuple for each entry of the line table.
func (c *Code) lineRanges() (out []Object) {
	w := c.wire()
	for i, in := range c.Instrs {
		for from := w.Starts[i]; from < w.Starts[i+1]; from += 8 { // an entry of the line table covers eight units at most
			to := min(from+8, w.Starts[i+1])
			out = append(out, NewTuple(MakeInt(int64(2*from)), MakeInt(int64(2*to)), orNoneAt(in.Line)))
		}
	}
	return out
}

// lnotab is the older form of the line table: pairs of how many bytes of code, and how many lines, the next line begins further on. A step
// that a byte cannot hold is made in several.
func (c *Code) lnotab() (out []byte) {
	w := c.wire()
	at, line := 0, int32(c.FirstLine)
	for i, in := range c.Instrs {
		if in.Line < 0 || in.Line == line {
			continue
		}
		from := 2 * int(w.Starts[i])
		bytes, lines := from-at, int(in.Line-line)
		at, line = from, in.Line
		for ; bytes > 255; bytes -= 255 {
			out = append(out, 255, 0)
		}
		for lines < -128 || lines > 127 {
			step := min(max(lines, -128), 127)
			out = append(out, byte(bytes), byte(int8(step)))
			bytes, lines = 0, lines-step
		}
		out = append(out, byte(bytes), byte(int8(lines)))
	}
	return out
}
