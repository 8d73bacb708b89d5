package torch

import (
	"strings"

	"whittle/capture/fx"
	"whittle/capture/python/vm"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// Autocast is the state of automatic mixed precision on the CPU.
type Autocast struct {
	Enabled bool
	DType   tensor.DType // what matrix products compute in
	Cache   bool         // PyTorch keeps casts of parameters; only read back here
}

// AutocastMode is an entered autocast region: what _enter_autocast gives and _exit_autocast takes.
type AutocastMode struct {
	Node  *fx.Node // of the call that entered it, in a trace
	prev  Autocast
	class *vm.Type
}

// Type is torch.amp.autocast_mode.autocast.
func (m *AutocastMode) Type() *vm.Type { return m.class }

// Before is the state that leaving the region goes back to.
func (m *AutocastMode) Before() Autocast { return m.prev }

// Operators that compute in the lower precision, in float32, or in the widest type of their operands. The lists are the
// CPU's; every other operator takes what it is given.
var (
	lowPrecision = fieldSet(`mm bmm addmm baddbmm addbmm matmul linear conv1d conv2d conv3d convolution _convolution conv_tbc conv_transpose1d conv_transpose2d
		conv_transpose3d linalg_matmul linalg_vecdot chain_matmul linalg_multi_dot scaled_dot_product_attention prelu _addmm_activation`)
	fullPrecision = fieldSet(`avg_pool3d binary_cross_entropy grid_sampler polar prod quantile nanquantile stft cdist trace view_as_complex cholesky cholesky_inverse
		cholesky_solve inverse lu_solve orgqr ormqr pinverse max_pool3d max_unpool2d max_unpool3d adaptive_avg_pool3d reflection_pad1d reflection_pad2d
		replication_pad1d replication_pad2d replication_pad3d mse_loss cosine_embedding_loss nll_loss nll_loss2d hinge_embedding_loss poisson_nll_loss
		smooth_l1_loss huber_loss l1_loss margin_ranking_loss multilabel_margin_loss soft_margin_loss triplet_margin_loss multi_margin_loss cross_entropy_loss
		binary_cross_entropy_with_logits kl_div ctc_loss fft_fft fft_ifft fft_fft2 fft_ifft2 fft_fftn fft_ifftn fft_rfft fft_irfft
		fft_rfft2 fft_irfft2 fft_rfftn fft_irfftn fft_hfft fft_ihfft linalg_cond linalg_matrix_rank linalg_solve linalg_cholesky
		linalg_svdvals linalg_eigvals linalg_eigvalsh linalg_inv linalg_householder_product linalg_tensorinv linalg_tensorsolve linalg_qr linalg_cholesky_ex
		linalg_svd linalg_eig linalg_eigh linalg_lstsq linalg_inv_ex geqrf _lu_with_info svd qr triangular_solve adaptive_max_pool3d fractional_max_pool2d
		fractional_max_pool3d grid_sampler_2d grid_sampler_3d multilabel_margin_loss_forward fake_quantize_per_tensor_affine`)
	widest = fieldSet(`stack cat index_copy`)
)

func fieldSet(s string) map[string]bool {
	m := map[string]bool{}
	for _, f := range strings.Fields(s) {
		m[f] = true
	}
	return m
}

// autocasting is the dispatcher of an autocast region: it casts operands, then runs the operator below.
type autocasting struct {
	below aten.Dispatcher
	to    tensor.DType
}

// Dispatch casts the floating tensors among args as op's list says; a composite operator in no list is taken apart.
func (d autocasting) Dispatch(op *aten.Op, args []aten.Value) (aten.Value, error) {
	name := op.Sig().Name
	var to tensor.DType
	switch {
	case lowPrecision[name]:
		to = d.to
	case fullPrecision[name]:
		to = tensor.Float32
	case widest[name]:
		to = d.to
		eachTensor(args, func(x *tensor.Tensor) {
			if x.DType == tensor.Float32 {
				to = tensor.Float32
			}
		})
	default:
		if op.Tags&aten.Composite != 0 && op.Decomp != nil {
			return aten.Decompose(d, op, args)
		}
		return d.below.Dispatch(op, args)
	}
	cast, err := d.cast(args, to)
	if err != nil {
		return nil, err
	}
	return d.below.Dispatch(op, cast)
}

func eachTensor(args []aten.Value, f func(x *tensor.Tensor)) {
	for _, a := range args {
		switch a := a.(type) {
		case *tensor.Tensor:
			if a != nil {
				f(a)
			}
		case []aten.Value:
			eachTensor(a, f)
		}
	}
}

// cast converts the floating tensors among args, doubles aside.
func (d autocasting) cast(args []aten.Value, to tensor.DType) ([]aten.Value, error) {
	out := make([]aten.Value, len(args))
	for i, a := range args {
		out[i] = a
		switch a := a.(type) {
		case *tensor.Tensor:
			if a == nil || !a.DType.IsFloat() || a.DType == tensor.Float64 || a.DType == to {
				continue
			}
			v, err := aten.CallKw(d.below, "aten._to_copy.default", []aten.Value{a}, map[string]aten.Value{"dtype": to})
			if err != nil {
				return nil, err
			}
			out[i] = v
		case []aten.Value:
			l, err := d.cast(a, to)
			if err != nil {
				return nil, err
			}
			out[i] = l
		}
	}
	return out, nil
}

// registerAutocast binds the switches of torch.amp.
func (t *Torch) registerAutocast() {
	c, in := t.c, t.In
	t.Autocast = Autocast{DType: tensor.BFloat16, Cache: true}
	cls := in.NewNativeType(vm.Spec{Name: "autocast", Module: "torch.amp.autocast_mode", NoDict: true})
	def := func(name string, f func(args []vm.Object) (vm.Object, error)) {
		target := "torch.amp.autocast_mode." + name
		b := c.Func(name, func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			return t.call(fx.CallFunction, target, args, kw, func(args []vm.Object, _ []vm.KwArg) (vm.Object, error) { return f(args) })
		})
		b.Native, b.Module = Target(target), "torch.amp.autocast_mode"
	}
	def("_enter_autocast", func(a []vm.Object) (vm.Object, error) {
		if len(a) != 4 {
			return nil, in.Errorf(in.Exc.TypeError, "_enter_autocast() takes a device, a dtype, and whether it is enabled and caches")
		}
		m := &AutocastMode{prev: t.Autocast, class: cls}
		dev, _ := vm.AsStr(a[0])
		on, err := in.Truth(a[2])
		if err != nil || dev != "cpu" {
			return m, err
		}
		t.Autocast.Enabled = on
		if d, ok := t.Value(a[1]); ok {
			if dt, ok := d.(tensor.DType); ok {
				t.Autocast.DType = dt
			}
		}
		return m, nil
	})
	def("_exit_autocast", func(a []vm.Object) (vm.Object, error) {
		m, ok := a[0].(*AutocastMode)
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "_exit_autocast() takes what _enter_autocast() gave, not %s", a[0].Type().Name)
		}
		t.Autocast = m.prev
		return vm.None, nil
	})
	c.Func("_autocast_state", func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) {
		return vm.NewTuple(vm.MakeBool(t.Autocast.Enabled), t.DTypeObject(t.Autocast.DType), vm.MakeBool(t.Autocast.Cache)), nil
	})
}
