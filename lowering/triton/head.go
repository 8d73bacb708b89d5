package triton

import (
	"fmt"
	"slices"
	"strings"

	"whittle/lowering/ir"
)

// A Device is what PyTorch notes in a kernel of the GPU that it is made for.
type Device struct {
	Name       string // as people call it
	Processors int    // multiprocessors
	Capability int    // 80 is 8.0
	Registers  int    // of a multiprocessor
	Threads    int    // likewise
}

// Devices are those that kernels can be made for. The first is the one that is taken where nobody says which.
var Devices = []Device{
	{"a100", 108, 80, 65536, 2048}, {"h100", 132, 90, 65536, 2048}, {"h200", 132, 90, 65536, 2048}, {"v100", 80, 70, 65536, 2048},
	{"a10", 72, 86, 65536, 1536}, {"l4", 58, 89, 65536, 1536}, {"t4", 40, 75, 65536, 1024}, {"rtx3090", 82, 86, 65536, 1536}, {"rtx4090", 128, 89, 65536, 1536},
}

func (d Device) String() string {
	return fmt.Sprintf("DeviceProperties(type='cuda', index=0, multi_processor_count=%d, cc=%d, major=%d, regs_per_multiprocessor=%d, max_threads_per_multi_processor=%d, warp_size=32)",
		d.Processors, d.Capability, d.Capability/10, d.Registers, d.Threads)
}

// kernelName stands for the kernel's name in its text, which is told when all kernels are there: those that are alike have one.
const kernelName = "\x00KERNEL\x00"

// kernelDevice likewise for the device, which is the module's.
const kernelDevice = "\x00DEVICE\x00"

// head writes what a kernel opens with, and fills in its arguments: what it reads, what it writes, and how many points there are.
func (g *gen) head() string {
	k := g.k
	k.Args, k.inputs = nil, nil
	var names, signature, aligned, mutated []string
	arg := func(b *ir.Buffer) {
		names = append(names, g.names[b])
		signature = append(signature, fmt.Sprintf("'%s': '%s'", g.names[b], widths[b.DType].pointer))
		if b.Offset*int64(b.DType.Size())%16 == 0 {
			aligned = append(aligned, fmt.Sprint(len(k.Args)))
		}
		k.Args = append(k.Args, b)
	}
	for _, b := range g.written {
		if g.input(b) {
			mutated = append(mutated, "'"+g.names[b]+"'")
			arg(b)
		}
	}
	for _, b := range g.reads {
		k.inputs = append(k.inputs, len(k.Args))
		arg(b)
	}
	for _, b := range g.written {
		if !g.input(b) {
			arg(b)
		}
	}
	var constants, equal []string
	number := func(name string, n int64) {
		switch t := "i32"; {
		case n == 1:
			constants, equal = append(constants, fmt.Sprintf("'%s': 1", name)), append(equal, fmt.Sprint(len(signature)))
			signature = append(signature, fmt.Sprintf("'%s': 'i32'", name))
		default:
			if n%16 == 0 {
				aligned = append(aligned, fmt.Sprint(len(signature)))
			}
			if g.wide {
				t = "i64"
			}
			signature = append(signature, fmt.Sprintf("'%s': '%s'", name, t))
		}
		names = append(names, name)
	}
	g.wide = g.wide || k.X >= 1<<31 || k.R >= 1<<31
	number("xnumel", k.X)
	if k.R > 0 {
		number("rnumel", k.R)
	}
	indices := func(xs []string) string {
		if len(xs) == 1 {
			return xs[0] + ","
		}
		return strings.Join(xs, ", ")
	}
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("\nimport triton\nimport triton.language as tl\nfrom triton.compiler.compiler import AttrsDescriptor\n")
	line("from torch._inductor.runtime import triton_helpers, triton_heuristics\nfrom torch._inductor.runtime.triton_helpers import libdevice, math as tl_math")
	line("from torch._inductor.runtime.hints import AutotuneHint, ReductionHint, TileHint, DeviceProperties\ntriton_helpers.set_driver_to_gpu()\n")
	line("@triton_heuristics.%s(", k.kind().decorator)
	if k.R > 0 {
		hint := "INNER"
		if k.columns() {
			hint = "OUTER"
		}
		line("    size_hints={'x': %d, 'r': %d},\n    reduction_hint=ReductionHint.%s,", ceilPower(k.X), ceilPower(k.R), hint)
	} else {
		line("    size_hints={'x': %d}, ", ceilPower(k.X))
	}
	line("    filename=__file__,")
	line("    triton_meta={'signature': {%s}, 'device': %s, 'constants': {%s}, 'configs': [AttrsDescriptor.from_dict({'arg_properties': {'tt.divisibility': (%s), 'tt.equal_to': (%s)}, 'cls': 'AttrsDescriptor'})]},",
		strings.Join(signature, ", "), kernelDevice, strings.Join(constants, ", "), indices(aligned), indices(equal))
	line("    inductor_meta={'autotune_hints': set(), 'kernel_name': '%s', 'mutated_arg_names': [%s], 'optimize_mem': True, 'no_x_dim': False, 'num_load': %d, 'num_reduction': %d, 'backend_hash': None, "+
		"'are_deterministic_algorithms_enabled': False, 'assert_indirect_indexing': True, 'autotune_local_cache': True, 'autotune_pointwise': True, 'autotune_remote_cache': None, "+
		"'force_disable_caches': False, 'dynamic_scale_rblock': True, 'max_autotune': False, 'max_autotune_pointwise': False, 'min_split_scan_rblock': 256, 'spill_threshold': 16, 'store_cubin': False}%s",
		kernelName, strings.Join(mutated, ", "), g.nload, g.nreduce, map[bool]string{true: "", false: ","}[k.R > 0])
	if k.R == 0 {
		line("    min_elem_per_thread=0")
	}
	line(")\n@triton.jit")
	blocks := []string{"XBLOCK : tl.constexpr"}
	if g.loops {
		blocks = append(blocks, "RBLOCK : tl.constexpr")
	}
	line("def %s(%s):", kernelName, strings.Join(append(names, blocks...), ", "))
	shape, bits := "[:]", ""
	if k.R > 0 {
		shape = "[:, None]"
	}
	if g.wide {
		bits = ".to(tl.int64)"
	}
	line("    xnumel = %d", k.X)
	if k.R > 0 {
		line("    rnumel = %d", k.R)
		if !g.loops {
			line("    RBLOCK: tl.constexpr = %d", ceilPower(k.R))
		}
	}
	line("    xoffset = tl.program_id(0)%s * XBLOCK", bits)
	line("    xindex = xoffset + tl.arange(0, XBLOCK)%s%s", shape, bits)
	line("    xmask = xindex < xnumel")
	switch {
	case g.loops:
		line("    rbase = tl.arange(0, RBLOCK)[None, :]%s", bits)
	case k.R > 0:
		line("    rindex = tl.arange(0, RBLOCK)[None, :]%s", bits)
		line("    roffset = 0")
		if g.masked() {
			line("    rmask = rindex < rnumel")
		} else {
			line("    rmask = tl.full([XBLOCK, RBLOCK], True, tl.int1)")
		}
		for _, r := range g.rs {
			line("    %s", r)
		}
	}
	for _, x := range g.xs {
		line("    %s", x)
	}
	return b.String()
}

// A kind is how kernels of one sort are called.
type kind struct{ decorator, prefix string }

// kind says whether a kernel reduces, and rows that fit a block.
func (k *Kernel) kind() kind {
	switch {
	case k.R == 0:
		return kind{"pointwise", "poi"}
	case k.R <= k.persistent():
		return kind{"persistent_reduction", "per"}
	}
	return kind{"reduction", "red"}
}

// named is the kernel's text under a name, for a device.
func (k *Kernel) named(name string, d Device) string {
	return strings.NewReplacer(kernelName, name, kernelDevice, d.String()).Replace(k.Source)
}

// title is a kernel's name but for its number: what it is, and the operators that it fuses.
func (k *Kernel) title(operator func(node string) string) string {
	var names []string
	for _, o := range k.Origins {
		if n := operator(o); n != "" && !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	return strings.Join(append([]string{"triton", k.kind().prefix, "fused"}, names...), "_")
}
