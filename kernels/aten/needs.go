package aten

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"whittle/kernels/tensor"
)

// What operators demand of their arguments before they run, where a kernel relies on it. One line holds names of operators,
// a colon, and demands: "self=3|4" is a number of dimensions ("1+": or more), "output_size#2" the length of a list (an absent or None one is
// fine), "target~self" the same shape as another argument, "n>0" a number above 0 (or a list of them), "i:int" an integer dtype,
// "grad@glu" the shape of what that operator gives for the arguments of the same names ("mean@op.1": its second result),
// "grad^self/2" the shape of another argument but for its last two dimensions, "dim!self" that a tensor of which dimensions are named has some,
// "self%silu_cpu" a floating dtype, in the words of the kernel of that name; with "/bool" any dtype but bool, with "/byte" uint8, too;
// "self&hypot_cpu" the same of the dtype that self and other, or target, are promoted to. A line for one overload goes before one for all.
// %d in a line stands for 1, 2 and 3 in turn, %+k for that number plus k, %+% for twice the number.
const needsText = `
upsample_linear1d upsample_bilinear2d upsample_trilinear3d upsample_bicubic2d _upsample_bilinear2d_aa _upsample_bicubic2d_aa: output_size>0
upsample_linear1d: self=3 input=3 output_size#1 scale_factors#1
upsample_bilinear2d upsample_bicubic2d _upsample_bilinear2d_aa _upsample_bicubic2d_aa: self=4 input=4 output_size#2 scale_factors#2
upsample_trilinear3d: self=5 input=5 output_size#3 scale_factors#3
upsample_nearest%dd _upsample_nearest_exact%dd: self=%+2 input=%+2 output_size#%d scale_factors#%d output_size>0
upsample_nearest%dd_backward _upsample_nearest_exact%dd_backward: grad_output=%+2 output_size#%d input_size#%+2 input_size>0
upsample_linear1d_backward: grad_output=3 output_size#1 input_size#3 input_size>0
upsample_bilinear2d_backward upsample_bicubic2d_backward _upsample_bilinear2d_aa_backward _upsample_bicubic2d_aa_backward: grad_output=4 output_size#2 input_size#4 input_size>0
upsample_trilinear3d_backward: grad_output=5 output_size#3 input_size#5 input_size>0
reflection_pad%dd replication_pad%dd: self=%+1|%+2 padding#%+%
reflection_pad%dd_backward replication_pad%dd_backward: self=%+1|%+2 padding#%+%
avg_pool%dd max_pool%dd_with_indices max_pool%dd: self=%+1|%+2 kernel_size#1|%d stride#0|1|%d padding#1|%d dilation#1|%d
avg_pool%dd_backward max_pool%dd_with_indices_backward: self=%+1|%+2 kernel_size#1|%d stride#0|1|%d padding#1|%d dilation#1|%d
max_pool%dd_with_indices_backward: indices~grad_output indices:int
adaptive_avg_pool%dd _adaptive_avg_pool%dd adaptive_max_pool%dd: self=%+1|%+2 output_size#%d
avg_pool%dd_backward: grad_output=%+1|%+2
_adaptive_avg_pool%dd_backward: self=%+1|%+2 grad_output=%+1|%+2
adaptive_max_pool%dd_backward: self=%+1|%+2 indices~grad_output indices:int
max_unpool%dd: self=%+1|%+2 indices~self indices:int output_size#%d
fractional_max_pool%dd: kernel_size#%d output_size#%d
fractional_max_pool%dd_backward: self=%+1|%+2 indices~grad_output indices:int
col2im: self=2|3 output_size#2 kernel_size#2 dilation#2 padding#2 stride#2 kernel_size>0 dilation>0 stride>0
im2col: self=3|4 kernel_size#2 dilation#2 padding#2 stride#2 kernel_size>0 dilation>0 stride>0
pixel_shuffle: upscale_factor>0
pixel_unshuffle: downscale_factor>0
embedding_dense_backward: indices:int num_weights>0
embedding_backward: indices:int num_weights>0
embedding_renorm_: self=2 indices:int
_embedding_bag _embedding_bag_forward_only embedding_bag: weight=2 indices=1 offsets=1 indices:int offsets:int
_embedding_bag_backward: grad=2 indices=1 offsets=1 bag_size=1 indices:int offsets:int
_embedding_bag_dense_backward: grad=2 indices=1 offset2bag=1 bag_size=1 indices:int num_weights>0
_embedding_bag_per_sample_weights_backward: grad=2 weight=2 indices=1 offsets=1 indices:int offsets:int
_pdist_forward pdist: self=2
_pdist_backward: self=2 grad=1
_softmax_backward_data _log_softmax_backward_data: output~grad_output
bartlett_window blackman_window hamming_window hann_window kaiser_window: window_length>-1
fft_fftfreq fft_rfftfreq: n>0
bincount: self=1 minlength>-1
multilabel_margin_loss multilabel_margin_loss_forward: self=0|1|2 target~self
multilabel_margin_loss_backward: self=0|1|2 target~self is_target~target target:int
multi_margin_loss multi_margin_loss_backward: self=0|1|2 target=0|1 target:int
nll_loss2d nll_loss2d_forward: self=4 target=3
nll_loss2d_backward: self=4 target=3
nll_loss_backward: self=1|2 target=0|1
native_group_norm: N>-1 C>0 group>0
renorm renorm_: self=2+
cumulative_trapezoid trapezoid trapz: y=1+
unique_dim unique_dim_consecutive: self=1+
_chunk_cat: num_chunks>0
_fft_r2c _fft_c2r: dim#1+
_pad_circular: self=2|3|4|5
bucketize: boundaries=1
searchsorted: sorted_sequence=1+
group_norm: input=2+
instance_norm: input=2+
nonzero_static: size>-1
histogramdd _histogramdd_from_bin_tensors: self=2+
native_group_norm: input=2+
linalg_cross: self=1+ other=1+
_cdist_backward: x1=2|3|4|5 x2=2|3|4|5 grad@_cdist_forward cdist@_cdist_forward
native_layer_norm_backward: grad_out@native_layer_norm mean@native_layer_norm.1 rstd@native_layer_norm.2
native_group_norm_backward: input=2+ N>-1 C>0 group>0 grad_out@native_group_norm mean@native_group_norm.1 rstd@native_group_norm.2
native_batch_norm_backward batch_norm_backward: input=2+ grad_out@native_batch_norm save_mean@native_batch_norm.1
native_batch_norm_backward: save_invstd@native_batch_norm.2
batch_norm_backward: save_var@native_batch_norm.2
convolution_backward: input=3|4|5 grad_output@convolution
glu_backward: grad_output@glu
nll_loss_backward: grad_output@nll_loss_forward total_weight@nll_loss_forward.1
nll_loss2d_backward: grad_output@nll_loss2d_forward total_weight@nll_loss2d_forward.1
multi_margin_loss_backward: grad_output@multi_margin_loss
multilabel_margin_loss_backward: grad_output@multilabel_margin_loss_forward
_ctc_loss_backward: neg_log_likelihood@_ctc_loss log_alpha@_ctc_loss.1 grad@_ctc_loss
avg_pool%dd_backward: grad_output@avg_pool%dd
max_pool%dd_with_indices_backward: grad_output@max_pool%dd_with_indices
_adaptive_avg_pool%dd_backward adaptive_max_pool%dd_backward: grad_output^self/%d
_pdist_backward: grad@_pdist_forward pdist@_pdist_forward
_segment_reduce_backward: grad@segment_reduce output@segment_reduce
_scaled_dot_product_flash_attention_for_cpu_backward: out@_scaled_dot_product_flash_attention_for_cpu logsumexp@_scaled_dot_product_flash_attention_for_cpu.1 grad_out~out
_fft_r2c fft_fftshift fft_ifftshift unflatten unique_consecutive unique_dim_consecutive take_along_dim: dim!self
grid_sampler_%dd_backward: grad_output@grid_sampler_%dd
fractional_max_pool%dd_backward: kernel_size#%d output_size#%d grad_output^self/%d
native_batch_norm _native_batch_norm_legit _native_batch_norm_legit_no_training _native_batch_norm_legit_functional: input=2+
_native_multi_head_attention: query=3 key=3 value=3 embed_dim>0 num_head>0 qkv_weight=2 qkv_bias=1 proj_weight=2 proj_bias=1
_transformer_encoder_layer_fwd: src=3 embed_dim>0 num_heads>0
`

// A need is one demand on an argument: its kind, as in the text above, and what it is compared with.
type need struct {
	arg   string
	kind  byte // = # ~ > : @ ^ ! % &
	nums  []int
	other string // ~ : ^ ! another argument, @ an operator, % & a kernel
}

// needs maps the name of an operator, without its overload, to its demands.
var needs = parseNeeds(needsText + dtypesText)

func parseNeeds(text string) map[string][]need {
	out := map[string][]need{}
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		lines := []string{line}
		if strings.Contains(line, "%d") {
			lines = nil
			for n := 1; n <= 3; n++ {
				l := strings.ReplaceAll(line, "%d", strconv.Itoa(n))
				l = strings.ReplaceAll(l, "%+%", strconv.Itoa(2*n))
				for k := range 3 {
					l = strings.ReplaceAll(l, "%+"+strconv.Itoa(k), strconv.Itoa(n+k))
				}
				lines = append(lines, l)
			}
		}
		for _, l := range lines {
			names, demands, _ := strings.Cut(l, ": ")
			for _, d := range strings.Fields(demands) {
				i := strings.IndexAny(d, "=#~>:@^!%&")
				n := need{arg: d[:i], kind: d[i]}
				list := d[i+1:]
				switch n.kind {
				case '~', ':', '!', '%', '&':
					n.other, list = list, ""
				case '^':
					n.other, list, _ = strings.Cut(list, "/")
				case '@':
					var more bool
					if n.other, list, more = strings.Cut(list, "."); !more {
						list = "0"
					}
				}
				if list != "" {
					for _, s := range strings.Split(list, "|") {
						min, more := strings.CutSuffix(s, "+")
						v, _ := strconv.Atoi(min)
						if more {
							v = atLeast - v
						}
						n.nums = append(n.nums, v)
					}
				}
				for _, name := range strings.Fields(names) {
					out[name] = append(out[name], n)
				}
			}
		}
	}
	return out
}

// atLeast marks a minimum among alternatives: atLeast-k means k or more.
const atLeast = -1 << 10

func oneOf(n int, of []int) bool {
	for _, x := range of {
		if x == n || x <= atLeast && n >= atLeast-x {
			return true
		}
	}
	return false
}

func alternatives(of []int) string {
	p := make([]string, len(of))
	for i, x := range of {
		p[i] = strconv.Itoa(x)
		if x <= atLeast {
			p[i] = "at least " + strconv.Itoa(atLeast-x)
		}
	}
	return strings.Join(p, " or ")
}

// needsOf are the demands of an operator: those of its overload, of its name, and of the form that does not write its argument.
func needsOf(s *Schema) []need {
	if s.Namespace != "aten" {
		return nil
	}
	var list []need
	seen := map[string]bool{}
	for _, name := range []string{s.Name + "." + s.Overload, s.Name, strings.TrimSuffix(s.Name, "_")} {
		if !seen[name] {
			list = append(list, needs[name]...)
		}
		seen[name] = true
	}
	return list
}

// checkNeeds compares a call with the demands of its operator.
func checkNeeds(op *Op, args []Value) error {
	if err := checkDevice(op, args); err != nil {
		return err
	}
	s := op.Sig()
	if s.Namespace != "aten" {
		return nil
	}
	list := op.needs
	if list == nil {
		return nil
	}
	for _, n := range list {
		i := s.Arg(n.arg)
		if i < 0 || i >= len(args) || args[i] == nil {
			continue
		}
		fail := func(format string, a ...any) error {
			return &Error{Op: op.Name(), Arg: n.arg, Kind: RuntimeError, Msg: s.Name + "(): " + fmt.Sprintf(format, a...)}
		}
		t, isT := args[i].(*tensor.Tensor)
		switch {
		case n.kind == '=' && isT:
			if !oneOf(t.Dim(), n.nums) {
				return fail("Expected %s to have %s dimensions, but got a tensor of size %s", n.arg, alternatives(n.nums), tensor.ShapeText(t.Shape))
			}
		case n.kind == '#':
			if l, ok := args[i].([]Value); ok && !oneOf(len(l), n.nums) {
				return fail("Expected %s to have %s elements, but got %d", n.arg, alternatives(n.nums), len(l))
			}
		case n.kind == '~' && isT:
			k := s.Arg(n.other)
			if k < 0 {
				continue
			}
			if o, ok := args[k].(*tensor.Tensor); ok && !tensor.SameShape(t, o) {
				return fail("Expected %s of size %s to have the same size as %s, but got %s", n.arg, tensor.ShapeText(t.Shape), n.other, tensor.ShapeText(o.Shape))
			}
		case n.kind == '@' && isT:
			want, err := madeBy(n.other, s, args)
			if err != nil {
				return fail("%s", err)
			}
			if k := n.nums[0]; k < len(want) && want[k] != nil && !tensor.SameShape(t, want[k]) {
				return fail("Expected %s to have the shape %s that %s() gives, but got %s", n.arg, tensor.ShapeText(want[k].Shape), n.other, tensor.ShapeText(t.Shape))
			}
		case n.kind == '%' && isT:
			if err := refusedDType(n.other, t.DType); err != nil {
				return &Error{Op: op.Name(), Arg: n.arg, Kind: RuntimeError, Msg: err.Error()}
			}
		case n.kind == '&' && isT:
			with := []Value{t}
			for _, name := range []string{"other", "target"} {
				if k := s.Arg(name); k >= 0 && args[k] != nil {
					with = append(with, args[k])
				}
			}
			if err := refusedDType(n.other, rtype(with...)); err != nil {
				return &Error{Op: op.Name(), Arg: n.arg, Kind: RuntimeError, Msg: err.Error()}
			}
		case n.kind == '!':
			o, ok := args[max(s.Arg(n.other), 0)].(*tensor.Tensor)
			if dims := toInts(args[i]); ok && o.Dim() == 0 && len(dims) > 0 {
				return &Error{Op: op.Name(), Arg: n.arg, Kind: IndexError, Msg: fmt.Sprintf("Dimension specified as %d but tensor has no dimensions", dims[0])}
			}
		case n.kind == '^' && isT:
			o, ok := args[max(s.Arg(n.other), 0)].(*tensor.Tensor)
			if k := n.nums[0]; ok && (t.Dim() != o.Dim() || t.Dim() < k || !slices.Equal(t.Shape[:t.Dim()-k], o.Shape[:o.Dim()-k])) {
				return fail("Expected %s to have the shape of %s, %s, but for the last %d dimensions, but got %s", n.arg, n.other, tensor.ShapeText(o.Shape), k, tensor.ShapeText(t.Shape))
			}
		case n.kind == ':' && isT:
			if !t.DType.IsInt() {
				return fail("Expected %s to have an integer dtype, but got %s", n.arg, cName(t.DType))
			}
		case n.kind == '>':
			for _, v := range toInts(args[i]) {
				if v <= int64(n.nums[0]) {
					return fail("Expected %s to be greater than %d, but got %d", n.arg, n.nums[0], v)
				}
			}
		}
	}
	return nil
}

// synonyms are arguments that a backward operator and its forward operator call by different names.
var synonyms = map[string][]string{"training": {"train", "update"}, "input": {"self"}, "self": {"input"}}

// madeBy is what an operator gives, as metadata, for the arguments that another call has under the same names.
func madeBy(name string, s *Schema, args []Value) ([]*tensor.Tensor, error) {
	op := Lookup("aten." + name)
	if op == nil {
		return nil, fmt.Errorf("there is no operator %s", name)
	}
	fs := op.Sig()
	in := make([]Value, len(fs.Args))
	for i, a := range fs.Args {
		k := s.Arg(a.Name)
		for _, other := range synonyms[a.Name] {
			if k < 0 {
				k = s.Arg(other)
			}
		}
		switch {
		case k >= 0:
			in[i] = args[k]
		case a.HasDefault || a.Type.Optional:
			in[i] = a.Default
		case a.Type.Base == "bool":
			in[i] = true
		case a.Type.Base == "float":
			in[i] = 0.0
		}
	}
	out, err := Fake.Dispatch(op, in)
	if err != nil {
		return nil, err
	}
	switch out := out.(type) {
	case *tensor.Tensor:
		return []*tensor.Tensor{out}, nil
	case []Value:
		ts := make([]*tensor.Tensor, len(out))
		for i, v := range out {
			ts[i], _ = v.(*tensor.Tensor)
		}
		return ts, nil
	}
	return nil, nil
}
