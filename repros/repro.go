package repros

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"whittle/capture/fx"
	"whittle/kernels/tensor"
)

// A Repro is everything that a repro file says. Sizes are concrete: symbolic ones are resolved while reading.
type Repro struct {
	Head     []string  // comment lines: versions, machine, where it comes from
	Env      []Setting // os.environ['NAME'] = Value, set before torch is imported
	Imports  []string  // statements beyond the usual imports, such as torch.ops.load_library(...)
	Config   []Setting
	Preamble string // Python that defines what the repro needs from its script: a custom backend; kept as it is
	Module   *fx.GraphModule
	Storages []Storage
	Inputs   []Input
	Stage    Stage
	Backend  string   // after dynamo only: "inductor"; "" after aot
	Accuracy Accuracy // what run_repro is told
	Command  string   // run, minify, analyze ...; "" reads as run
	SaveDir  string   // where storages lie, relative to the file; "" for None
	Tracing  string   // after aot: real, symbolic, fake
	Check    string   // after aot: check_str, "" for None
	Autocast bool     // after dynamo
	Seed     int64    // of random inputs; PyTorch's own files have none: 0
}

// Stage says which graph of the stack the repro holds.
type Stage string

// The stages.
const (
	AfterAOT    Stage = "aot"    // aten operators; run under no_grad
	AfterDynamo Stage = "dynamo" // torch functions; forward and backward are run
)

// Accuracy is the accuracy argument of run_repro.
type Accuracy string

// The values of accuracy.
const (
	NoAccuracy     Accuracy = "False"
	WithAccuracy   Accuracy = "True"
	StrictAccuracy Accuracy = "'strict_accuracy'"
	MinAccuracy    Accuracy = "'accuracy'"
)

// A Setting is one line of configuration: torch._inductor.config.cpp.simdlen = 0.
type Setting struct {
	Name  string // torch._inductor.config.cpp.simdlen
	Value string // Python text
}

// Storage is the memory that one or several input tensors view.
type Storage struct {
	Hash      string // content hash under SaveDir; "" for none
	NBytes    int64
	Device    string // "cpu" unless said otherwise
	DTypeHint string // of the random data that stands in for it: float32
	// Expr is Python that makes the untyped storage, torch.zeros(6).untyped_storage(); "" for a stored or random one.
	Expr string
}

// InputKind is the kind of an input.
type InputKind string

// The kinds of input.
const (
	TensorInput InputKind = "tensor"
	SymIntInput InputKind = "symint"
	ConstInput  InputKind = "const" // None: filtered out during compilation
	ExprInput   InputKind = "expr"  // a tensor that no storage can carry, such as a ZeroTensor: Input.Expr makes it
)

// Input is one argument of forward.
type Input struct {
	Kind         InputKind
	Name         string // the comment behind it
	Value        any    // SymIntInput: int64 or float64
	Storage      int    // index into Repro.Storages
	Shape        []int64
	Stride       []int64 // nil: contiguous
	Offset       int64
	DType        string // PyTorch's name, which tensor.DType may lack: float32, float8_e4m3fnuz
	RequiresGrad bool
	Leaf         bool
	Meta         []Setting // further keywords of reader.tensor
	Expr         string    // ExprInput: Python that makes it; Shape and DType are set where they can be told from it
}

// DTypeUnsupported says that an input has a dtype that whittle cannot compute with.
type DTypeUnsupported struct{ Input, DType string }

func (e *DTypeUnsupported) Error() string {
	return fmt.Sprintf("input %s: torch.%s is not supported", e.Input, e.DType)
}

// Lookup reads a setting by its full name, or by what follows ".config.".
func (r *Repro) Lookup(name string) (string, bool) {
	for _, s := range r.Config {
		if s.Name == name || strings.HasSuffix(s.Name, ".config."+name) {
			return s.Value, true
		}
	}
	return "", false
}

// noFloat64 is PyTorch's own setting for a comparison with eager alone.
const noFloat64, tolerance = "torch._dynamo.config.same_two_models_use_fp64", "torch._dynamo.config.repro_tolerance"

// IsStrict reports whether r is compared with eager directly, and not by what is nearer to float64: its accuracy is strict, and
// PyTorch's own settings want no float64 or leave no tolerance.
func IsStrict(r *Repro) bool {
	v, _ := r.Lookup("same_two_models_use_fp64")
	tol, set := r.Lookup("repro_tolerance")
	x, err := strconv.ParseFloat(tol, 64)
	return r.Accuracy == StrictAccuracy && (v == "False" || set && err == nil && x == 0)
}

// MakeStrict has r compared with eager directly. A run by PyTorch fails then where the results differ by more than repro_tolerance, which is
// nothing unless r has one; whittle takes eager's noise into account.
func MakeStrict(r *Repro) {
	r.Accuracy = StrictAccuracy
	r.Config = slices.DeleteFunc(slices.Clone(r.Config), func(s Setting) bool { return s.Name == noFloat64 })
	r.Config = append(r.Config, Setting{Name: noFloat64, Value: "False"})
	if _, ok := r.Lookup("repro_tolerance"); !ok {
		r.Config = append(r.Config, Setting{Name: tolerance, Value: "0.0"})
	}
}

// AllStrides is the strides of a tensor input.
func (in Input) AllStrides() []int64 {
	if in.Stride != nil {
		return in.Stride
	}
	return tensor.ContiguousStrides(in.Shape)
}

// Tensors makes the inputs. load, see Loader, reads a storage by content hash; where it is nil, and for storages without a hash, random
// data from the seed stands in: normal for floating dtypes, zeros for others, storage by storage.
func (r *Repro) Tensors(load func(hash string) ([]byte, error)) ([]any, error) {
	gen := tensor.NewGenerator(uint64(r.Seed))
	made := make([]*tensor.Storage, len(r.Storages))
	for i, st := range r.Storages {
		if st.NBytes < 0 || st.NBytes > maxStorage {
			return nil, fmt.Errorf("storage %d: %d bytes", i, st.NBytes)
		}
		s := tensor.NewStorage(st.NBytes)
		made[i] = s
		if st.Expr != "" {
			t := fx.ConstValue(strings.TrimSuffix(st.Expr, ".untyped_storage()"))
			if t == nil || t.Storage.NBytes < st.NBytes {
				return nil, fmt.Errorf("storage %d: %s is not understood", i, st.Expr)
			}
			copy(s.Data, t.Storage.Data)
			continue
		}
		if load != nil && st.Hash != "" {
			b, err := load(st.Hash)
			if err != nil {
				return nil, err
			}
			if int64(len(b)) < st.NBytes {
				return nil, fmt.Errorf("storage %s holds %d bytes, %d wanted", st.Hash, len(b), st.NBytes)
			}
			copy(s.Data, b)
			continue
		}
		if d, ok := tensor.ParseDType(st.DTypeHint); ok && d.IsFloat() {
			n := st.NBytes / int64(d.Size())
			gen.NormalFill(&tensor.Tensor{Storage: s, DType: d, Shape: []int64{n}, Stride: []int64{1}}, 0, 1)
		}
	}
	out := make([]any, len(r.Inputs))
	for i, in := range r.Inputs {
		switch in.Kind {
		case SymIntInput:
			out[i] = in.Value
		case ConstInput:
			out[i] = nil
		case ExprInput:
			t := fx.ConstValue(in.Expr)
			if t == nil {
				return nil, fmt.Errorf("input %s: %s is not understood", in.Name, in.Expr)
			}
			out[i] = t
		case TensorInput:
			d, ok := tensor.ParseDType(in.DType)
			if !ok || !d.Computes() {
				return nil, &DTypeUnsupported{in.Name, in.DType}
			}
			t := &tensor.Tensor{Storage: made[in.Storage], DType: d, Shape: append([]int64{}, in.Shape...), Stride: append([]int64{}, in.AllStrides()...), Offset: in.Offset}
			if err := inBounds(t); err != nil {
				return nil, fmt.Errorf("input %s: %w", in.Name, err)
			}
			out[i] = t
		}
	}
	return out, nil
}

// maxStorage bounds what a file can make us allocate.
const maxStorage = 64 << 30

// fakes are the inputs without data, for shape propagation.
func (r *Repro) fakes() ([]any, error) {
	made := make([]*tensor.Storage, len(r.Storages))
	for i, st := range r.Storages {
		made[i] = tensor.FakeStorage(st.NBytes)
	}
	out := make([]any, len(r.Inputs))
	for i, in := range r.Inputs {
		switch in.Kind {
		case SymIntInput:
			out[i] = in.Value
		case ExprInput:
			d, ok := tensor.ParseDType(in.DType)
			if !ok {
				return nil, fmt.Errorf("input %s: shape and dtype of %s are not known", in.Name, in.Expr)
			}
			n := int64(d.Size())
			for _, s := range in.Shape {
				n *= s
			}
			out[i] = &tensor.Tensor{Storage: tensor.FakeStorage(n), DType: d, Shape: append([]int64{}, in.Shape...), Stride: tensor.ContiguousStrides(in.Shape), Fake: true}
		case TensorInput:
			d, ok := tensor.ParseDType(in.DType)
			if !ok {
				return nil, &DTypeUnsupported{in.Name, in.DType}
			}
			t := &tensor.Tensor{Storage: made[in.Storage], DType: d, Shape: append([]int64{}, in.Shape...), Stride: append([]int64{}, in.AllStrides()...), Offset: in.Offset, Fake: true}
			if err := inBounds(t); err != nil {
				return nil, fmt.Errorf("input %s: %w", in.Name, err)
			}
			out[i] = t
		}
	}
	return out, nil
}

func inBounds(t *tensor.Tensor) error {
	if len(t.Shape) != len(t.Stride) {
		return fmt.Errorf("shape %v with strides %v", t.Shape, t.Stride)
	}
	last := t.Offset
	for i, s := range t.Shape {
		if s < 0 || t.Stride[i] < 0 || t.Offset < 0 {
			return fmt.Errorf("shape %v strides %v offset %d", t.Shape, t.Stride, t.Offset)
		}
		if s == 0 {
			return nil
		}
		last += (s - 1) * t.Stride[i]
	}
	if (last+1)*int64(t.DType.Size()) > t.Storage.NBytes {
		return fmt.Errorf("shape %v strides %v offset %d reach beyond a storage of %d bytes", t.Shape, t.Stride, t.Offset, t.Storage.NBytes)
	}
	return nil
}

// FromTensors describes concrete inputs: r's Storages and Inputs are replaced. put, where it is given, stores the bytes of a storage and
// returns their hash, "" where it does not; a storage without a hash has random data when the repro runs. autograd tells, per tensor, what to note; nil for leaves without gradients.
func (r *Repro) FromTensors(names []string, inputs []any, put func(data []byte) (string, error), autograd func(t *tensor.Tensor) (requiresGrad, leaf bool)) error {
	r.Storages, r.Inputs = nil, nil
	seen := map[*tensor.Storage]int{}
	for i, v := range inputs {
		name := ""
		if i < len(names) {
			name = names[i]
		}
		switch v := v.(type) {
		case nil:
			r.Inputs = append(r.Inputs, Input{Kind: ConstInput, Name: name})
		case int64, float64:
			r.Inputs = append(r.Inputs, Input{Kind: SymIntInput, Name: name, Value: v})
		case fx.SymInt:
			r.Inputs = append(r.Inputs, Input{Kind: SymIntInput, Name: name, Value: v.Hint})
		case bool:
			n := int64(0)
			if v {
				n = 1
			}
			r.Inputs = append(r.Inputs, Input{Kind: SymIntInput, Name: name, Value: n})
		case *tensor.Tensor:
			k, ok := seen[v.Storage]
			if !ok {
				k = len(r.Storages)
				seen[v.Storage] = k
				st := Storage{NBytes: v.Storage.NBytes, Device: "cpu", DTypeHint: v.DType.String()}
				if put != nil && !v.Fake {
					h, err := put(v.Storage.Data)
					if err != nil {
						return err
					}
					st.Hash = h
				}
				r.Storages = append(r.Storages, st)
			}
			in := Input{Kind: TensorInput, Name: name, Storage: k, Shape: append([]int64{}, v.Shape...), Offset: v.Offset, DType: v.DType.String(), Leaf: true}
			if !equalInts(v.Stride, tensor.ContiguousStrides(v.Shape)) {
				in.Stride = append([]int64{}, v.Stride...)
			}
			if autograd != nil {
				in.RequiresGrad, in.Leaf = autograd(v)
			}
			r.Inputs = append(r.Inputs, in)
		default:
			return fmt.Errorf("input %s: a %T cannot be written into a repro", name, v)
		}
	}
	return nil
}

func equalInts(a, b []int64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
