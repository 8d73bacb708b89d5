package vm

import (
	"fmt"
	"math/big"

	"whittle/capture/python/code"
)

// Code is a code object as the interpreter and scripts see it. Its code.Code must not change once it runs, as all that is made from it here
// is made once. The inline caches do change, so code is run by one interpreter at a time.
type Code struct {
	*code.Code
	Consts []Object // the constants as objects
	Native bool     // stands for what CPython has in C: its frames leave no entry in tracebacks

	// From here to caches: see ready.
	ops    []op     // Instrs
	fast   []op     // the same, with instructions of our own for pairs and types; see quicken
	names  []Object // Names as objects
	hashes []uint64 // of Names
	caches []inlineCache
	nslots int
	size   int // slots of a frame in the slab, those of the stack included
	// The slots of what is neither an argument nor a free variable.
	scopeBegin, scopeEnd int
	simple               bool // only plain positional parameters
	gen                  bool
	bytes                *code.Wire // CPython's form, nil until it is asked for
	takes                []bool     // see code.Temporaries; nil until it is asked for
	broken               error      // what keeps code that was made of bytes from running
}

// op is an instruction without its position in the source, so that the evaluator's loop reads few bytes: two words, as a byte by itself takes it
// longer.
type op struct {
	word uint32 // the code.Op, or'ed with namedCall
	arg  int32
}

// namedCall marks a call whose keyword arguments KW_NAMES has.
const namedCall = 1 << 8

func (o op) op() code.Op { return code.Op(o.word) }

// become has another instruction in o's place, with its argument.
func (o *op) become(by code.Op) { o.word = o.word&namedCall | uint32(by) }

// NewCode makes a code object of a compiled one, and of those among its constants. What running takes is made when a frame first asks for it:
// most functions of a library are never called.
func NewCode(c *code.Code) *Code {
	v := &Code{Code: c}
	v.Consts = make([]Object, len(c.Consts))
	for i, k := range c.Consts {
		v.Consts[i] = ConstObject(k)
	}
	v.nslots = c.NLocalsPlus()
	v.scopeEnd = max(v.nslots-len(c.FreeVars), 0)
	v.scopeBegin = min(c.ArgCount+c.KwOnly, v.scopeEnd)
	v.simple = c.KwOnly == 0 && c.Flags&(code.VarArgs|code.VarKeywords) == 0
	v.gen = c.Flags&(code.Generator|code.Coroutine|code.AsyncGen) != 0
	return v
}

// ready makes what running takes: names as objects and hashed, the instructions, and an inline cache for each.
func (c *Code) ready() {
	c.ops = make([]op, len(c.Instrs))
	for i := range c.Instrs {
		c.ops[i] = op{uint32(c.Instrs[i].Op), c.Instrs[i].Arg}
		if _, named := c.named(i); named {
			c.ops[i].word |= namedCall
		}
	}
	c.hashes = make([]uint64, len(c.Names))
	for i, n := range c.Names {
		c.hashes[i] = hashString(n)
	}
	c.names = make([]Object, len(c.Names))
	for i, n := range c.Names {
		c.names[i] = Str(n)
	}
	c.size = (c.nslots + c.StackSize + slotStep) &^ (slotStep - 1)
	c.fast = quicken(c.ops)
	c.caches = make([]inlineCache, len(c.Instrs))
}

// ConstObject makes the object of a constant that package code has as a Go value. Constants that embedders put into a code object are
// objects already.
func ConstObject(k any) Object {
	switch k := k.(type) {
	case nil:
		return None
	case bool:
		return MakeBool(k)
	case int64:
		return MakeInt(k)
	case int:
		return MakeInt(int64(k))
	case *big.Int:
		return MakeBig(k)
	case float64:
		return Float(k)
	case complex128:
		return Complex(k)
	case string:
		return Str(k)
	case code.Bytes:
		return Bytes(k)
	case code.Ellipsis:
		return Ellipsis
	case code.Tuple:
		items := make([]Object, len(k))
		for i, e := range k {
			items[i] = ConstObject(e)
		}
		return NewTuple(items...)
	case code.FrozenSet:
		f := &FrozenSet{}
		in := &Interp{Raising: Raising{Exc: &excTypes}}
		for _, e := range k {
			_ = f.Add(in, ConstObject(e))
		}
		// Compiling merges equal constants, for which a set is built anew from its members: that decides their order.
		g := &FrozenSet{}
		for _, k := range f.Items() {
			_ = g.Add(in, k)
		}
		return g
	case *code.Code:
		return NewCode(k)
	case Object:
		return k
	}
	return Str(fmt.Sprintf("<constant %T>", k))
}
