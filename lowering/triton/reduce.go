package triton

import (
	"fmt"
	"math"
	"strings"

	"whittle/kernels/tensor"
	"whittle/lowering/ir"
)

// A combine describes a reduction as an algebra: how two blocks become one, $a with $v, and how a block becomes its rows.
type combine struct{ step, rows string }

// combines has the reductions; any and all are of truth values, all says that there is no false one.
var combines = map[ir.Reduce]combine{
	"sum":  {"$a + $v", "tl.sum($a, 1)[:, None]"},
	"prod": {"$a * $v", "triton_helpers.prod($a, 1)[:, None]"},
	"amax": {"triton_helpers.maximum($a, $v)", "triton_helpers.max2($a, 1)[:, None]"},
	"amin": {"triton_helpers.minimum($a, $v)", "triton_helpers.min2($a, 1)[:, None]"},
	"any":  {"$a | $v", "triton_helpers.any($a.to(tl.int8), 1)[:, None].to(tl.int1)"},
	"all":  {"$a | $v", "triton_helpers.any($a.to(tl.int8), 1)[:, None].to(tl.int1)"},
}

// An accumulator is one reduction of a stage.
type accumulator struct {
	l       *ir.Loops
	name    string // the variable of its result
	block   string // the variable of what has come together, of one block
	neutral string // what changes nothing, as Python has it
	d       tensor.DType
	combine
}

// neutral is the value that a reduction begins with.
func neutral(r ir.Reduce, d tensor.DType) string {
	low, high := `float("-inf")`, `float("inf")`
	if d.IsInt() {
		bits := 8 * d.Size()
		low, high = fmt.Sprint(-int64(1)<<(bits-1)), fmt.Sprint(uint64(1)<<(bits-1)-1)
		if d == tensor.UInt8 {
			low, high = "0", fmt.Sprint(math.MaxUint8)
		}
	}
	switch r {
	case "prod":
		return "1"
	case "amax":
		return low
	case "amin":
		return high
	}
	return "0"
}

// reduce writes what takes v into a reduction: of the one block of a row, whose other elements do not count, or of the next one.
func (g *gen) reduce(l *ir.Loops, v string) accumulator {
	c, ok := combines[l.Reduce]
	d := l.Value.DType
	if _, known := widths[d]; !ok || !known || (d == tensor.Bool) != (l.Reduce == "any" || l.Reduce == "all") {
		g.fail("reduction %s of %s", l.Reduce, d)
	}
	g.nreduce++
	if l.Reduce == "all" {
		v = g.variable(v + " == 0")
	}
	v = g.variable(fmt.Sprintf("tl.broadcast_to(%s, [XBLOCK, RBLOCK])", v))
	a := accumulator{l: l, neutral: neutral(l.Reduce, d), d: d, combine: c}
	mask := "xmask"
	if g.masked() {
		mask = "rmask & xmask"
	}
	if g.loops {
		a.name = g.fresh()
		step := g.variable(strings.NewReplacer("$a", "_"+a.name, "$v", v).Replace(c.step))
		g.line("_%s = tl.where(%s, %s, _%s)", a.name, mask, step, a.name)
		return a
	}
	other := a.neutral
	if !d.IsFloat() {
		other = fmt.Sprintf("tl.full([1, 1], %s, %s)", other, widths[d].value)
	}
	a.block = g.variable(fmt.Sprintf("tl.where(%s, %s, %s)", mask, v, other))
	a.name = g.fresh()
	return a
}

// fresh is a new variable.
func (g *gen) fresh() string {
	g.nvar++
	return fmt.Sprintf("tmp%d", g.nvar-1)
}

// final writes what has come of a reduction, once for each row.
func (g *gen) final(a accumulator, block string) {
	g.loop = a.l
	g.line("%s = %s", a.name, strings.ReplaceAll(a.rows, "$a", block))
	g.acc = a.name
	if a.l.Reduce == "all" {
		g.acc = g.variable(a.name + " == 0")
	}
	e := a.l.Final
	if e == nil {
		e = &ir.Expr{Kind: ir.Acc, DType: a.d}
	}
	g.store(a.l, e, g.emit(e, false))
}
