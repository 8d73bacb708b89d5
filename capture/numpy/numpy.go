package numpy

import (
	_ "embed"
	"errors"
	"io/fs"
	"sync"

	"whittle/capture/python/vm"
	"whittle/kernels/ndarray"
)

//go:generate go run ../../tools/zipped -o py.zip py

// archive holds the Python sources, which lie in py.
//
//go:embed py.zip
var archive string

// sources are the Python sources.
var sources = sync.OnceValue(func() fs.FS { return vm.Archive(archive) })

// NumPy is the state of the package in one interpreter.
type NumPy struct {
	In *vm.Interp
	// ArrayType, DTypeType and UfuncType are ndarray, dtype and ufunc; nil until the module is loaded.
	ArrayType, DTypeType, UfuncType *vm.Type
	// Print is what set_printoptions has set.
	Print ndarray.PrintOptions

	generic *vm.Type                 // the root of all scalar classes
	scalars map[ndarray.Num]*vm.Type // the class of each type's scalars
	object  *ndarray.DType           // O of this interpreter
	dtypes  map[ndarray.Num]*DType
	ufuncs  map[string]*Ufunc
	module  *vm.Module
	flat    *vm.Type // flatiter
}

type key struct{}

const native = "numpy._core._multiarray_umath"

// Register makes numpy known to an interpreter.
func Register(in *vm.Interp) *NumPy {
	np := &NumPy{In: in, Print: ndarray.DefaultPrintOptions(), scalars: map[ndarray.Num]*vm.Type{}, dtypes: map[ndarray.Num]*DType{}, ufuncs: map[string]*Ufunc{}}
	np.object = ndarray.Objects(language{np})
	in.Ext[key{}] = np
	in.RegisterModule(native, np.build)
	in.AddSourceFS(sources(), "")
	return np
}

// Of is the package's state in an interpreter, loaded; nil if it was never registered.
func Of(in *vm.Interp) (*NumPy, error) {
	np, ok := in.Ext[key{}].(*NumPy)
	if !ok {
		return nil, in.Errorf(in.Exc.RuntimeError, "Numpy is not available")
	}
	if np.ArrayType == nil {
		if _, err := in.Import("numpy"); err != nil {
			return nil, err
		}
	}
	return np, nil
}

// Loaded is the package's state if the program has imported it, else nil: then no object of it exists.
func Loaded(in *vm.Interp) *NumPy {
	if np, ok := in.Ext[key{}].(*NumPy); ok && np.ArrayType != nil {
		return np
	}
	return nil
}

func (np *NumPy) build(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule(native, "")
	np.module = m
	np.dtypeType()
	np.scalarTypes()
	np.arrayType()
	np.ufuncType()
	np.flatType()
	for _, f := range []func(m *vm.Module){np.creation, np.shaping, np.searching, np.algebra, np.texts, np.fourier, np.randomTypes} {
		f(m)
	}
	m.Set("ndarray", np.ArrayType)
	m.Set("dtype", np.DTypeType)
	m.Set("ufunc", np.UfuncType)
	m.Set("flatiter", np.flat)
	for name := range ndarray.Ufuncs() {
		m.Set(name, np.ufunc(name))
	}
	return m, nil
}

// err turns an error of the kernels into the exception that NumPy raises.
func (np *NumPy) err(err error) error {
	var e *ndarray.Error
	if err == nil || !errors.As(err, &e) {
		return err
	}
	x := np.In.Exc
	cls := map[string]*vm.Type{"ValueError": x.ValueError, "TypeError": x.TypeError, "IndexError": x.IndexError, "OverflowError": x.OverflowError, "ZeroDivisionError": x.ZeroDivisionError}[e.Kind]
	if cls == nil { // one of our own Python, whose constructor runs
		v, err := np.In.Call(np.exception(e.Kind), []vm.Object{vm.Str(e.Msg)}, nil)
		if x, ok := v.(*vm.Exception); ok {
			err = np.In.Raise(x)
		}
		return err
	}
	return np.In.Errorf(cls, "%s", e.Msg)
}

// exception is a class of exceptions that our own Python defines.
func (np *NumPy) exception(name string) *vm.Type {
	for _, mod := range []string{"numpy._core._exceptions", "numpy.exceptions", "numpy.linalg"} {
		m, err := np.In.Import(mod)
		if err != nil {
			continue
		}
		if o, err := np.In.GetAttr(m, name); err == nil {
			if t, ok := o.(*vm.Type); ok {
				return t
			}
		}
	}
	return np.In.Exc.TypeError
}

// wrap is the object of an array, or the kernels' error as an exception.
func (np *NumPy) wrap(a *ndarray.Array, err error) (vm.Object, error) {
	if err != nil {
		return nil, np.err(err)
	}
	return np.Wrap(a), nil
}

// result is wrap, with a scalar for an array without axes.
func (np *NumPy) result(a *ndarray.Array, err error) (vm.Object, error) {
	if err != nil {
		return nil, np.err(err)
	}
	return np.Return(a), nil
}

// Return is the object of a result: a scalar if it has no axes.
func (np *NumPy) Return(a *ndarray.Array) vm.Object {
	if a.NDim() == 0 {
		return np.Scalar(a.Get(a.Offset), a.DType)
	}
	return np.Wrap(a)
}

// Wrap is a new ndarray object.
func (np *NumPy) Wrap(a *ndarray.Array) vm.Object { return &Array{A: a, class: np.ArrayType, np: np} }

// view is a new ndarray object that is a view of another.
func (np *NumPy) view(a *ndarray.Array, of *Array) vm.Object {
	base := vm.Object(of)
	if of.base != nil {
		if _, ok := of.base.(*Array); ok {
			base = of.base
		}
	}
	return &Array{A: a, class: of.class, np: np, base: base}
}
