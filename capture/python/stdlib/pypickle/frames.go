package pypickle

import (
	"encoding/binary"
	"slices"

	"whittle/capture/python/vm"
)

// output is what a pickler has written and not yet given to its file.
type output struct {
	buf     []byte
	framing bool
	frame   int       // where the frame begins, with room for its header; -1 outside of one
	write   vm.Object // nil: all stays here
}

// emit writes bytes, in a frame if there are frames.
func (o *output) emit(p ...byte) {
	if o.framing && o.frame < 0 {
		o.frame = len(o.buf)
		o.buf = append(o.buf, make([]byte, frameHeader)...)
	}
	o.buf = append(o.buf, p...)
}

// endFrame writes the header of the frame. One that is too small for it loses it.
func (o *output) endFrame() {
	if !o.framing || o.frame < 0 {
		return
	}
	n := len(o.buf) - o.frame - frameHeader
	if n >= frameLeast {
		o.buf[o.frame] = opFrame
		binary.LittleEndian.PutUint64(o.buf[o.frame+1:], uint64(n))
	} else {
		o.buf = slices.Delete(o.buf, o.frame, o.frame+frameHeader)
	}
	o.frame = -1
}

// boundary is where an instruction has ended: a frame that is large enough ends, too.
func (o *output) boundary(in *vm.Interp) error {
	if !o.framing || o.frame < 0 || len(o.buf)-o.frame-frameHeader < frameTarget {
		return nil
	}
	o.endFrame()
	return o.flush(in)
}

// flush gives what there is to the file.
func (o *output) flush(in *vm.Interp) error {
	if o.write == nil {
		return nil
	}
	p := vm.Bytes(o.buf)
	o.buf = nil
	_, err := in.Call(o.write, []vm.Object{p}, nil)
	return err
}

// emitData writes a header and data. Large data goes around frames and straight to the file.
func (o *output) emitData(in *vm.Interp, header, data []byte, payload vm.Object) error {
	if len(data) < frameTarget {
		o.emit(header...)
		o.emit(data...)
		return nil
	}
	o.endFrame()
	framing := o.framing
	o.framing = false
	defer func() { o.framing = framing }()
	o.emit(header...)
	if o.write == nil {
		o.emit(data...)
		return nil
	}
	if err := o.flush(in); err != nil {
		return err
	}
	if payload == nil {
		payload = vm.Bytes(data)
	}
	_, err := in.Call(o.write, []vm.Object{payload}, nil)
	return err
}
