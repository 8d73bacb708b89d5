package pyio

import (
	"whittle/capture/python/vm"
)

// rawFile is a raw object of this package. Its methods let other threads run while they wait.
type rawFile interface {
	readInto(in *vm.Interp, p []byte) (n int, err error)   // 0 at the end, -1 if there is nothing yet
	writeFrom(in *vm.Interp, p []byte) (n int, err error)  // -1 if nothing could be written yet
	readRest(in *vm.Interp) (b []byte, ok bool, err error) // not ok: there is nothing yet
	seekTo(in *vm.Interp, off int64, whence int) (int64, error)
}

// raw is the raw object of a buffer: one of this package, or any other, whose methods are called by their names.
type raw struct {
	obj  vm.Object
	inst *vm.Instance
	own  rawFile // nil for other objects
}

// newRaw is a raw object as a buffer uses it.
func newRaw(m *module, o vm.Object) raw {
	r := raw{obj: o}
	if i, ok := o.(*vm.Instance); ok && (i.Class == m.fileIO || i.Class == m.stream) {
		r.inst = i
		r.own, _ = i.Native.(rawFile)
	}
	return r
}

// plain reports whether nothing has put other methods in the place of the class's: beside its name, the object has no attributes.
func (r *raw) plain() bool { return r.own != nil && (r.inst.Dict == nil || r.inst.Dict.Len() < 2) }

// readInto reads once.
func (r *raw) readInto(in *vm.Interp, p []byte) (int, error) {
	if r.plain() {
		return r.own.readInto(in, p)
	}
	v, err := in.CallMethod(r.obj, "readinto", view(p, false))
	if err != nil {
		return 0, err
	}
	if v == vm.None {
		return -1, nil
	}
	n, err := in.Index(v)
	if err != nil {
		return 0, causedBy(in, err, "raw readinto() failed")
	}
	if n < 0 || n > int64(len(p)) {
		return 0, in.Errorf(in.Exc.OSError, "raw readinto() returned invalid length %d (should have been between 0 and %d)", n, len(p))
	}
	return int(n), nil
}

// causedBy is an OSError whose cause is another exception.
func causedBy(in *vm.Interp, err error, msg string) error {
	r, ok := err.(*vm.Raised)
	if !ok {
		return err
	}
	e := in.Errorf(in.Exc.OSError, "%s", msg)
	if x, ok := e.(*vm.Raised); ok {
		x.Exc.Cause, x.Exc.Context = r.Exc, r.Exc
	}
	return e
}

// writeFrom writes once.
func (r *raw) writeFrom(in *vm.Interp, p []byte) (int, error) {
	if r.plain() {
		return r.own.writeFrom(in, p)
	}
	v, err := in.CallMethod(r.obj, "write", view(p, true))
	if err != nil {
		return 0, err
	}
	if v == vm.None {
		return -1, nil
	}
	n, err := in.Index(v)
	if err != nil {
		return 0, err
	}
	if n < 0 || n > int64(len(p)) {
		return 0, in.Errorf(in.Exc.OSError, "raw write() returned invalid length %d (should have been between 0 and %d)", n, len(p))
	}
	return int(n), nil
}

// seekTo moves, and says where to.
func (r *raw) seekTo(in *vm.Interp, off int64, whence int) (int64, error) {
	if r.plain() {
		return r.own.seekTo(in, off, whence)
	}
	v, err := in.CallMethod(r.obj, "seek", vm.MakeInt(off), vm.MakeInt(int64(whence)))
	return position(in, v, err)
}

// tell says where the raw object is.
func (r *raw) tell(in *vm.Interp) (int64, error) {
	if r.plain() {
		return r.own.seekTo(in, 0, 1)
	}
	v, err := in.CallMethod(r.obj, "tell")
	return position(in, v, err)
}

// position is what a raw object says of where it is.
func position(in *vm.Interp, v vm.Object, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	n, err := in.Index(v)
	if err == nil && n < 0 {
		err = in.Errorf(in.Exc.OSError, "Raw stream returned invalid position %d", n)
	}
	return n, err
}

// isClosed asks whether the raw object is closed.
func (r *raw) isClosed(in *vm.Interp) (bool, error) {
	if f, ok := r.own.(*fileIO); ok && r.plain() {
		return f.fd < 0, nil
	}
	return isClosed(in, r.obj)
}
