package codegen

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"whittle/kernels/aten"
	"whittle/kernels/native"
	"whittle/kernels/tensor"
	"whittle/lowering/ir"
)

// Sets of dtypes that expressions compute in.
var (
	floats   = []tensor.DType{tensor.Float32, tensor.Float64}
	integers = []tensor.DType{tensor.Int64, tensor.Int32, tensor.Int16, tensor.Int8, tensor.UInt8}
	numbers  = slices.Concat(floats, integers)
	bools    = []tensor.DType{tensor.Bool}
	all      = slices.Concat(numbers, bools)
	stored   = slices.Concat(all, []tensor.DType{tensor.BFloat16, tensor.Float16})
)

// emitted says of each scalar operator which operator of the registry it is, and for which dtypes code is generated.
var emitted = map[string]emits{
	"add": {eager: "add.Tensor", on: numbers, operands: 2},
	"sub": {eager: "sub.Tensor", on: numbers, operands: 2},
	"mul": {eager: "mul.Tensor", on: numbers, operands: 2},
	"div": {eager: "div.Tensor", on: floats, operands: 2},
	"neg": {eager: "neg", on: numbers, operands: 1}, "abs": {eager: "abs", on: numbers, operands: 1},
	"sign": {eager: "sign", on: numbers, operands: 1}, "relu": {eager: "relu", on: numbers, operands: 1},
	"exp": rounded("exp"), "exp2": rounded("exp2"), "expm1": rounded("expm1"), "log": rounded("log"), "log2": rounded("log2"),
	"log10": rounded("log10"), "log1p": rounded("log1p"), "sin": rounded("sin"), "cos": rounded("cos"), "tan": rounded("tan"),
	"asin": rounded("asin"), "acos": rounded("acos"), "atan": rounded("atan"), "sinh": rounded("sinh"), "cosh": rounded("cosh"),
	"tanh": rounded("tanh"), "asinh": rounded("asinh"), "acosh": rounded("acosh"), "atanh": rounded("atanh"), "erf": rounded("erf"),
	"erfc": rounded("erfc"), "lgamma": rounded("lgamma"), "sigmoid": rounded("sigmoid"), "rsqrt": rounded("rsqrt"),
	"sqrt":       {eager: "sqrt", on: floats, operands: 1},
	"reciprocal": {eager: "reciprocal", on: floats, operands: 1},
	"atan2":      {eager: "atan2", on: floats, operands: 2, limit: 4e-7},
	"ceil":       {eager: "ceil", on: floats, operands: 1}, "floor": {eager: "floor", on: floats, operands: 1},
	"round": {eager: "round", on: floats, operands: 1}, "trunc": {eager: "trunc", on: floats, operands: 1},
	"pow":     {eager: "pow.Tensor_Tensor", on: floats, operands: 2, limit: 4e-7},
	"maximum": {eager: "maximum", on: numbers, operands: 2}, "minimum": {eager: "minimum", on: numbers, operands: 2},
	"fmod":      {eager: "fmod.Tensor", on: numbers, operands: 2, nonzero: true},
	"remainder": {eager: "remainder.Tensor", on: numbers, operands: 2, nonzero: true},
	"div_floor": {eager: "div.Tensor_mode floor", on: floats, operands: 2},
	"div_trunc": {eager: "div.Tensor_mode trunc", on: floats, operands: 2},
	"eq":        {eager: "eq.Tensor", on: all, operands: 2, toBool: true}, "ne": {eager: "ne.Tensor", on: all, operands: 2, toBool: true},
	"lt": {eager: "lt.Tensor", on: all, operands: 2, toBool: true}, "le": {eager: "le.Tensor", on: all, operands: 2, toBool: true},
	"gt": {eager: "gt.Tensor", on: all, operands: 2, toBool: true}, "ge": {eager: "ge.Tensor", on: all, operands: 2, toBool: true},
	"and": {eager: "logical_and", on: bools, operands: 2}, "or": {eager: "logical_or", on: bools, operands: 2},
	"xor": {eager: "logical_xor", on: bools, operands: 2}, "not": {eager: "logical_not", on: bools, operands: 1},
	"bitand": {eager: "bitwise_and.Tensor", on: integers, operands: 2}, "bitor": {eager: "bitwise_or.Tensor", on: integers, operands: 2},
	"bitxor": {eager: "bitwise_xor.Tensor", on: integers, operands: 2}, "bitnot": {eager: "bitwise_not", on: integers, operands: 1},
	"isnan": {eager: "isnan", on: floats, operands: 1, toBool: true}, "isinf": {eager: "isinf", on: floats, operands: 1, toBool: true},
	"where":     {eager: "where.self", on: all, operands: 3},
	"fma":       {eager: "prims.fma", on: numbers, operands: 3},
	"bug_plus1": {eager: "add.Tensor one", on: numbers, operands: 1},
}

// emits is one operator as generated code has it.
type emits struct {
	eager    string // overload; its arguments are the operands
	on       []tensor.DType
	operands int
	toBool   bool
	nonzero  bool    // the last operand is not zero: the kernel of integers raises
	limit    float64 // how far a result may be off, of its size; 0: not at all
}

func rounded(eager string) emits { return emits{eager: eager, on: floats, operands: 1, limit: 4e-7} }

// elsewhere are the operators that have a test of their own.
var elsewhere = map[string]string{"cast": "TestCasts", "bug_compile": "TestFaults", "bug_runtime": "TestFaults"}

// edges are the values at which arithmetic of a dtype is not as usual.
func edges(d tensor.DType) []float64 {
	switch d {
	case tensor.Bool:
		return []float64{0, 1}
	case tensor.UInt8:
		return []float64{0, 1, 2, 3, 127, 128, 200, 255}
	case tensor.Int8:
		return []float64{-128, -127, -3, -1, 0, 1, 2, 100, 127}
	case tensor.Int16:
		return []float64{-32768, -129, -1, 0, 1, 3, 300, 32767}
	case tensor.Int32:
		return []float64{math.MinInt32, -65537, -1, 0, 1, 3, 65537, math.MaxInt32}
	case tensor.Int64:
		return []float64{-(1 << 63), -(1 << 40), -3, -1, 0, 1, 2, 3, 1 << 33, 1 << 62}
	}
	return []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 3, -3, 0.1, 7.25, -7.25, 88, -104, 1e-40, 3e18, 1e30, -1e30}
}

// operands are n tensors of dtype d that meet in every combination of edges, as far as that is few enough; with nonzero the last one has no zeros.
func operands(d tensor.DType, n int, nonzero bool) []*tensor.Tensor {
	values := edges(d)
	last := slices.DeleteFunc(slices.Clone(values), func(x float64) bool { return nonzero && x == 0 && !d.IsFloat() })
	total := 1
	for range n {
		total *= len(values)
	}
	if n == 3 {
		total = 2000 // of all
	}
	out := make([]*tensor.Tensor, n)
	for k := range out {
		from, every := values, 1
		for range k {
			every *= len(values)
		}
		if k == n-1 {
			from = last
		}
		xs := make([]float64, total)
		for i := range xs {
			xs[i] = from[(i/every)%len(from)]
		}
		out[k] = tensor.Empty(d, int64(total))
		out[k].SetFloats(xs)
	}
	return out
}

// bench collects loops over tensors that are at hand, and runs them as one kernel.
type bench struct {
	t     *testing.T
	loops []*ir.Loops
	mem   map[*ir.Buffer]*tensor.Tensor
	past  bool // results are written past the caches
}

func newBench(t *testing.T) *bench {
	if _, err := native.FindCompiler(); err != nil {
		t.Skip(err)
	}
	return &bench{t: t, mem: map[*ir.Buffer]*tensor.Tensor{}}
}

func (b *bench) buffer(x *tensor.Tensor) *ir.Buffer {
	buf := &ir.Buffer{Name: fmt.Sprintf("buf%d", len(b.mem)), DType: x.DType, Shape: x.Shape, Stride: x.Stride}
	b.mem[buf] = x
	return buf
}

// load is the element of x at the place of the loop, in dtype d.
func (b *bench) load(x *tensor.Tensor, d tensor.DType) *ir.Expr {
	return &ir.Expr{Kind: ir.Load, DType: d, Buf: b.buffer(x), At: ir.Index{Coef: x.Stride}}
}

// store adds a loop that stores e in a new tensor of dtype d.
func (b *bench) store(e *ir.Expr, d tensor.DType, shape ...int64) *tensor.Tensor {
	out := tensor.Empty(d, shape...)
	buf := b.buffer(out)
	b.loops = append(b.loops, &ir.Loops{Out: buf, At: buf.StoreAt(), Ranges: shape, Value: e})
	return out
}

func (b *bench) run() {
	b.t.Helper()
	k := Generate(b.loops, Options{Threads: 1, Result: func(*ir.Buffer) bool { return b.past }})
	lib, err := (&native.Builder{Dir: b.t.TempDir()}).Build(context.Background(), k.Source)
	if err != nil {
		b.t.Fatal(err)
	}
	ptrs := make([]unsafe.Pointer, len(k.Bufs))
	for i, buf := range k.Bufs {
		ptrs[i] = b.mem[buf].Ptr()
	}
	lib.Call(ptrs, []int64{0})
}

func call(op string, d tensor.DType, args ...*ir.Expr) *ir.Expr {
	return &ir.Expr{Kind: ir.Call, DType: d, Op: op, Args: args}
}

// eager runs an operator on its tensors: "div.Tensor_mode floor" with a keyword, "add.Tensor one" with the number 1.
func eager(t *testing.T, name string, args ...aten.Value) *tensor.Tensor {
	t.Helper()
	name, more, _ := strings.Cut(name, " ")
	var kw map[string]aten.Value
	switch more {
	case "":
	case "one":
		args = append(args, int64(1))
	default:
		kw = map[string]aten.Value{"rounding_mode": more}
	}
	if !strings.HasPrefix(name, "prims.") {
		name = "aten." + name
	}
	v, err := aten.CallKw(aten.Eager, name, args, kw)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return v.(*tensor.Tensor)
}

// compare says at which operands generated code gives something else than the kernel; zeros differ by their sign.
func compare(t *testing.T, what string, want, got *tensor.Tensor, limit float64, ins []*tensor.Tensor) {
	t.Helper()
	if want.DType != got.DType {
		t.Errorf("%s: %s, and %s from the kernel", what, got.DType, want.DType)
		return
	}
	if want.DType == tensor.Float64 {
		limit *= 1e-6
	}
	bad := 0
	for i := range want.Numel() {
		x, y := got.At(i), want.At(i)
		same := x == y && math.Signbit(x) == math.Signbit(y) || x != x && y != y
		if !want.DType.IsFloat() {
			same = got.AtInt(i) == want.AtInt(i)
		}
		if same || math.Abs(x-y) <= limit*math.Abs(y) {
			continue
		}
		if bad++; bad > 3 {
			continue
		}
		var at []string
		for _, in := range ins {
			at = append(at, fmt.Sprint(in.At(i)))
		}
		t.Errorf("%s(%s) is %v, and %v from the kernel", what, strings.Join(at, ", "), x, y)
	}
}

// TestOps walks the table of scalar operators: each, in all dtypes that code is generated for, is compiled and compared with the eager kernel, on
// all combinations of values that are special.
func TestOps(t *testing.T) {
	b := newBench(t)
	type result struct {
		what  string
		got   *tensor.Tensor
		want  *tensor.Tensor
		limit float64
		ins   []*tensor.Tensor
	}
	var results []result
	for _, op := range slices.Sorted(maps.Keys(ops)) {
		if elsewhere[op] != "" {
			continue
		}
		c, ok := emitted[op]
		if !ok {
			t.Errorf("%s has no row in emitted", op)
			continue
		}
		for _, d := range c.on {
			ins := operands(d, c.operands, c.nonzero)
			if op == "where" {
				ins[0] = eager(t, "ne.Scalar", ins[0], int64(0))
			}
			var loads []*ir.Expr
			var args []aten.Value
			for _, x := range ins {
				loads, args = append(loads, b.load(x, x.DType)), append(args, x)
			}
			to := d
			if c.toBool {
				to = tensor.Bool
			}
			got := b.store(call(op, to, loads...), to, ins[0].Numel())
			results = append(results, result{fmt.Sprintf("%s %s", op, d.Short()), got, eager(t, c.eager, args...), c.limit, ins})
		}
	}
	b.run()
	for _, r := range results {
		compare(t, r.what, r.want, r.got, r.limit, r.ins)
	}
	for op := range emitted {
		if ops[op] == "" {
			t.Errorf("emitted has %s, which the table of operators has not", op)
		}
	}
}

// TestVectors compiles every operator on float32, and those of doubles that have vectors, alone, of an absolute value, and into a choice, and asks GCC which loops became vectors: all.
func TestVectors(t *testing.T) {
	cxx, err := native.FindCompiler()
	if err != nil {
		t.Skipf("a C++ compiler is asked here: %v", err)
	}
	if v, err := exec.Command(cxx[0], "--version").CombinedOutput(); err != nil || !strings.Contains(string(v), "Free Software Foundation") {
		t.Skip("the compiler is asked by -fopt-info-vec which loops it made vectors of, which GCC alone has")
	}
	scalar := map[string]string{"lgamma": "the C library's", "bug_compile": "a fault", "bug_runtime": "a fault"}
	type which struct {
		op string
		d  tensor.DType
	}
	asked := []which{{"exp", tensor.Float64}, {"log", tensor.Float64}, {"sin", tensor.Float64}, {"cos", tensor.Float64}, {"sigmoid", tensor.Float64}}
	for _, op := range slices.Sorted(maps.Keys(ops)) {
		if scalar[op] == "" && slices.Contains(emitted[op].on, tensor.Float32) {
			asked = append(asked, which{op, tensor.Float32})
		}
	}
	for _, a := range asked {
		op, d, c := a.op, a.d, emitted[a.op]
		x := make([]*ir.Buffer, 4)
		for i := range x {
			x[i] = &ir.Buffer{Name: fmt.Sprintf("x%d", i), DType: d, Shape: []int64{1000}, Stride: []int64{1}}
		}
		load := func(i int) *ir.Expr { return &ir.Expr{Kind: ir.Load, DType: d, Buf: x[i], At: ir.Axis(0)} }
		zero := &ir.Expr{Kind: ir.Const, DType: d, Value: int64(0)}
		to := d
		if c.toBool {
			to = tensor.Bool
		}
		alone, abs := []*ir.Expr{load(0), load(1), load(2)}, []*ir.Expr{call("abs", d, load(0)), load(1), load(2)}
		if op == "where" {
			alone[0], abs[0] = call("gt", tensor.Bool, alone[0], zero), call("gt", tensor.Bool, abs[0], zero)
		}
		for what, e := range map[string]*ir.Expr{
			"":                      call(op, to, alone[:c.operands]...),
			" of an absolute value": call(op, to, abs[:c.operands]...),
			" into a choice":        call("where", to, call("gt", tensor.Bool, load(3), zero), call(op, to, alone[:c.operands]...), &ir.Expr{Kind: ir.Const, DType: to, Value: int64(1)}),
		} {
			out := &ir.Buffer{Name: "out", DType: to, Shape: x[0].Shape, Stride: x[0].Stride}
			k := Generate([]*ir.Loops{{Out: out, At: out.StoreAt(), Ranges: out.Shape, Value: e}}, Options{Threads: 1})
			file := filepath.Join(t.TempDir(), "k.cpp")
			if err := os.WriteFile(file, []byte(k.Source), 0o666); err != nil {
				t.Fatal(err)
			}
			flags := append(native.DefaultFlags(), "-fvect-cost-model=dynamic", "-fopenmp-simd", "-fopt-info-vec-optimized", "-S", "-o", os.DevNull, file)
			text, err := exec.Command(cxx[0], append(cxx[1:], flags...)...).CombinedOutput()
			if err != nil {
				t.Fatalf("%s: %v\n%s", op, err, text)
			}
			if !strings.Contains(string(text), "loop vectorized") {
				t.Errorf("%s of %s%s stays scalar:\n%s", op, d, what, strings.TrimPrefix(k.Source, Prelude))
			}
		}
	}
}

// TestCasts converts the special values of every dtype to every other, in memory and in arithmetic, as the operator that does so.
func TestCasts(t *testing.T) {
	b := newBench(t)
	var got, want []*tensor.Tensor
	var ins []*tensor.Tensor
	for _, from := range stored {
		for _, to := range stored {
			x := operands(from, 1, false)[0]
			e := b.load(x, widened(from))
			if widened(from) != widened(to) {
				e = call("cast", widened(to), e)
			}
			got, want, ins = append(got, b.store(e, to, x.Numel())), append(want, eager(t, "prims.convert_element_type.default", x, to)), append(ins, x)
		}
	}
	b.run()
	for i := range got {
		compare(t, fmt.Sprintf("%s of %s", got[i].DType, ins[i].DType), want[i], got[i], 0, ins[i:i+1])
	}
}

// widened is the dtype in which expressions compute with elements of dtype d.
func widened(d tensor.DType) tensor.DType {
	if d == tensor.BFloat16 || d == tensor.Float16 {
		return tensor.Float32
	}
	return d
}

// TestFaults: the operators that stand for faults of a compiler are such faults.
func TestFaults(t *testing.T) {
	b := newBench(t)
	x := operands(tensor.Float32, 1, false)[0]
	b.store(call("bug_compile", x.DType, b.load(x, x.DType)), x.DType, x.Numel())
	_, err := (&native.Builder{Dir: t.TempDir()}).Build(context.Background(), Generate(b.loops, Options{Threads: 1}).Source)
	var refused *native.CompileError
	if !errors.As(err, &refused) {
		t.Errorf("bug_compile: %v, want a *native.CompileError", err)
	}
	b = newBench(t)
	b.store(call("bug_runtime", x.DType, b.load(x, x.DType)), x.DType, x.Numel())
	k := Generate(b.loops, Options{Threads: 1})
	if _, err := (&native.Builder{Dir: t.TempDir()}).Build(context.Background(), k.Source); err != nil || !strings.Contains(k.Source, "throw 1;") {
		t.Errorf("bug_runtime: %v, want code that compiles and throws", err)
	}
}

// TestReductions walks the reductions: each over the inner axis of special values, and of values that lose digits in a plain sum.
func TestReductions(t *testing.T) {
	kernels := map[ir.Reduce]struct {
		eager string
		on    []tensor.DType
		limit float64
	}{
		"sum":  {"sum.dim_IntList", []tensor.DType{tensor.Float32, tensor.Float64, tensor.Int64}, 4e-7},
		"prod": {"prod.dim_int", []tensor.DType{tensor.Float32, tensor.Float64, tensor.Int64}, 2e-6}, // the kernel multiplies in another order
		"amax": {"amax", numbers, 0},
		"amin": {"amin", numbers, 0},
		"any":  {"any.dim", bools, 0},
		"all":  {"all.dim", bools, 0},
	}
	for r := range combines {
		if kernels[r].eager == "" {
			t.Errorf("no kernel to compare %s with", r)
		}
	}
	b := newBench(t)
	var got, want []*tensor.Tensor
	var names []string
	for _, r := range slices.Sorted(maps.Keys(kernels)) {
		for _, d := range kernels[r].on {
			for _, x := range rows(d) {
				out := tensor.Empty(d, x.Shape[0])
				buf := b.buffer(out)
				b.loops = append(b.loops, &ir.Loops{Out: buf, At: buf.StoreAt(), Ranges: x.Shape[:1], Reduction: x.Shape[1:], Reduce: r, Value: b.load(x, d)})
				var dim aten.Value = int64(1)
				if r == "amax" || r == "amin" || r == "sum" {
					dim = []aten.Value{dim}
				}
				got, want = append(got, out), append(want, eager(t, kernels[r].eager, x, dim))
				names = append(names, string(r))
			}
		}
	}
	b.run()
	for i := range got {
		compare(t, names[i]+" "+got[i].DType.Short(), want[i], got[i], kernels[ir.Reduce(names[i])].limit, nil)
	}
}

// rows are matrices of dtype d to reduce: one special value in each row among ordinary ones, and long rows of values that are not exact.
func rows(d tensor.DType) []*tensor.Tensor {
	values := edges(d)
	special := tensor.Empty(d, int64(len(values)), 5)
	xs := make([]float64, special.Numel())
	for i := range xs {
		if xs[i] = 1; i%5 == i/5%5 {
			xs[i] = values[i/5]
		}
	}
	special.SetFloats(xs)
	if !d.IsFloat() {
		return []*tensor.Tensor{special}
	}
	long := tensor.Empty(d, 2, 1000)
	xs = make([]float64, long.Numel())
	for i := range xs {
		xs[i] = 1 + 0.01*math.Sin(float64(i))
	}
	long.SetFloats(xs)
	return []*tensor.Tensor{special, long}
}

// TestNests shows which loops of a group run in one nest, and which one after another: what one writes, another has to touch at the same place.
func TestNests(t *testing.T) {
	square := []int64{4, 4}
	buf := func(name string) *ir.Buffer {
		return &ir.Buffer{Name: name, DType: tensor.Float32, Shape: square, Stride: []int64{4, 1}}
	}
	a, x, y := buf("a"), buf("x"), buf("y")
	at := func(b *ir.Buffer, coef ...int64) *ir.Expr {
		return &ir.Expr{Kind: ir.Load, DType: tensor.Float32, Buf: b, At: ir.Index{Coef: coef}}
	}
	loop := func(out *ir.Buffer, e *ir.Expr) *ir.Loops {
		return &ir.Loops{Out: out, At: out.StoreAt(), Ranges: square, Value: e}
	}
	sum := func(out *ir.Buffer, e *ir.Expr) *ir.Loops {
		return &ir.Loops{Out: out, At: out.StoreAt(), Ranges: square[:1], Reduction: square[1:], Reduce: "sum", Value: e}
	}
	flat := &ir.Buffer{Name: "flat", DType: tensor.Float32, Shape: []int64{16}, Stride: []int64{1}}
	line := &ir.Buffer{Name: "line", DType: tensor.Float32, Shape: []int64{4}, Stride: []int64{1}}
	bits := &ir.Buffer{Name: "bits", DType: tensor.Int64, Shape: square, Stride: []int64{4, 1}, Root: x}
	for _, c := range []struct {
		name  string
		group []*ir.Loops
		want  int
	}{
		{"independent", []*ir.Loops{loop(x, at(a, 4, 1)), loop(y, at(a, 4, 1))}, 1},
		{"a read of what was just written", []*ir.Loops{loop(x, at(a, 4, 1)), loop(y, at(x, 4, 1))}, 1},
		{"a transposed read of what was written", []*ir.Loops{loop(x, at(a, 4, 1)), loop(y, at(x, 1, 4))}, 2},
		{"a transposed read of what is then overwritten", []*ir.Loops{loop(y, at(x, 1, 4)), loop(x, at(a, 4, 1))}, 2},
		{"a read under another size of element", []*ir.Loops{loop(x, at(a, 4, 1)), loop(y, &ir.Expr{Kind: ir.Load, DType: tensor.Int64, Buf: bits, At: ir.Index{Coef: []int64{4, 1}}})}, 2},
		{"two writes to one place", []*ir.Loops{loop(x, at(a, 4, 1)), loop(x, at(y, 4, 1))}, 1},
		{"two writes, one transposed", []*ir.Loops{loop(x, at(a, 4, 1)), loop(&ir.Buffer{DType: tensor.Float32, Shape: square, Stride: []int64{1, 4}, Root: x}, at(y, 4, 1))}, 2},
		{"another space", []*ir.Loops{loop(x, at(a, 4, 1)), {Out: flat, At: flat.StoreAt(), Ranges: flat.Shape, Value: at(a, 1)}}, 1},
		{"a reduction alone", []*ir.Loops{loop(x, at(a, 4, 1)), sum(line, at(x, 4, 1))}, 2},
		{"two reductions", []*ir.Loops{sum(line, at(a, 4, 1)), sum(line, at(x, 4, 1))}, 2},
	} {
		text := strings.TrimPrefix(Generate(c.group, Options{Threads: 1}).Source, Prelude)
		if got := strings.Count(text, "int64_t i0 = 0"); got != c.want {
			t.Errorf("%s: %d nests, want %d:\n%s", c.name, got, c.want, text)
		}
	}
}

// TestResults writes rows past the caches, that begin anywhere in a line of memory, of operands as they lie and of transposed ones.
func TestResults(t *testing.T) {
	b := newBench(t)
	b.past = true
	type pair struct {
		what      string
		want, got *tensor.Tensor
	}
	var pairs []pair
	for _, d := range stored {
		for _, shape := range [][]int64{{3, 700}, {40, 101}, {65, 128}} {
			x := tensor.Empty(d, shape...)
			xs := make([]float64, x.Numel())
			for i := range xs {
				xs[i] = float64(i * 7 % 61)
			}
			x.SetFloats(xs)
			e := b.load(x, widened(d))
			pairs = append(pairs, pair{fmt.Sprintf("%s %v", d, shape), x, b.store(e, d, shape...)})
			turned := tensor.NewView(x, []int64{shape[1], shape[0]}, []int64{x.Stride[1], x.Stride[0]}, 0)
			e = &ir.Expr{Kind: ir.Load, DType: widened(d), Buf: e.Buf, At: ir.Index{Coef: turned.Stride}}
			pairs = append(pairs, pair{fmt.Sprintf("%s %v turned", d, shape), turned.Contiguous(), b.store(e, d, turned.Shape...)})
		}
	}
	b.run()
	for _, p := range pairs {
		if diff := cmp.Diff(p.want.Floats(), p.got.Floats()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", p.what, diff)
		}
	}
}

// TestText shows the text of a kernel: its origins, one pointer for each buffer that owns memory, equal subexpressions once; and that long loops
// alone are shared out among threads.
func TestText(t *testing.T) {
	long := []int64{1 << 8, 1 << 7}
	a := &ir.Buffer{Name: "a", DType: tensor.Float32, Shape: long, Stride: []int64{1 << 7, 1}}
	view := &ir.Buffer{Name: "view", DType: tensor.Float32, Shape: long, Stride: []int64{1 << 7, 1}, Root: a}
	out := &ir.Buffer{Name: "out", DType: tensor.BFloat16, Shape: long, Stride: []int64{1, 1 << 8}}
	load := func(b *ir.Buffer) *ir.Expr {
		return call("exp", tensor.Float32, &ir.Expr{Kind: ir.Load, DType: tensor.Float32, Buf: b, At: ir.Index{Coef: []int64{1 << 7, 1}}})
	}
	group := []*ir.Loops{{Out: out, At: out.StoreAt(), Ranges: long, Value: call("add", tensor.Float32, load(a), load(view)), Origins: []string{"exp", "add"}}}
	text := func(threads int) string {
		return strings.TrimPrefix(Generate(group, Options{Threads: threads}).Source, Prelude)
	}
	want := `// exp, add
extern "C" void kernel(void** bufs, const int64_t* sizes) {
  float* __restrict__ p0 = (float*)bufs[0]; // a
  bf16* __restrict__ p1 = (bf16*)bufs[1]; // out
  #pragma omp parallel for num_threads(2) schedule(static)
  for (int64_t i0 = 0; i0 < 256; i0++) {
    #pragma GCC ivdep
    for (int64_t i1 = 0; i1 < 128; i1++) {
      float t0 = p0[128*i0 + i1];
      float t1 = whittle_exp(t0);
      float t2 = t1 + t1;
      bf16 t3 = bf16(t2);
      p1[i0 + 256*i1] = t3;
    }
  }
}
`
	if diff := cmp.Diff(want, text(2)); diff != "" {
		t.Errorf("kernel (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(strings.Replace(want, " num_threads(2)", "", 1), text(0)); diff != "" {
		t.Errorf("as many threads as there are (-want +got):\n%s", diff)
	}
	if strings.Contains(text(1), "omp") {
		t.Errorf("one thread:\n%s", text(1))
	}
	group[0].Ranges = []int64{1 << 7, 1 << 7}
	if strings.Contains(text(2), "omp") {
		t.Errorf("a short loop:\n%s", text(2))
	}
	if once, again := text(2), text(2); once != again {
		t.Error("equal loops give different text")
	}
}
