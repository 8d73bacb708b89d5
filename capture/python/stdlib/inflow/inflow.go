package inflow

import (
	"errors"
	"iter"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// Stream is a stream that is being decompressed.
type Stream struct {
	EOF     bool   // the decoder has come to the end of its stream
	Unused  []byte // what came behind the end
	Waiting bool   // nothing more can be given before something comes

	src    Source
	ready  []byte // decompressed and not taken yet
	failed error
	next   func() ([]byte, bool)
	stop   func()
}

// errStopped is what a decoder reads when nobody wants its results any more.
var errStopped = errors.New("stopped")

// Source is what a decoder reads from. Nothing behind what it asks for is taken.
type Source struct {
	in    []byte
	yield func([]byte) bool
}

// ReadByte implements io.ByteReader.
func (s *Source) ReadByte() (byte, error) {
	for len(s.in) == 0 {
		if !s.yield(nil) {
			return 0, errStopped
		}
	}
	b := s.in[0]
	s.in = s.in[1:]
	return b, nil
}

// Read implements io.Reader.
func (s *Source) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	b, err := s.ReadByte()
	if err != nil {
		return 0, err
	}
	p[0] = b
	n := copy(p[1:], s.in)
	s.in = s.in[n:]
	return n + 1, nil
}

// New begins a stream. The decoder gives what it has by emit, whose result says whether to go on, and returns at the end of the stream.
func New(decode func(src *Source, emit func([]byte) bool) error) *Stream {
	s := &Stream{Waiting: true}
	s.next, s.stop = iter.Pull(func(yield func([]byte) bool) {
		s.src.yield = yield
		emit := func(b []byte) bool { return len(b) == 0 || yield(b) }
		if err := decode(&s.src, emit); err != nil {
			s.failed = err
			return
		}
		s.EOF = true
	})
	return s
}

// Feed adds data and gives what comes of them, up to most bytes unless that is negative.
func (s *Stream) Feed(data []byte, most int) ([]byte, error) {
	s.src.in = append(s.src.in[:len(s.src.in):len(s.src.in)], data...)
	out := s.ready
	s.ready = nil
	dry := false
	for !dry && !s.EOF && s.failed == nil && (most < 0 || len(out) < most) {
		b, ok := s.next()
		dry = !ok || b == nil
		out = append(out, b...)
	}
	if s.failed != nil {
		return nil, s.failed
	}
	if most >= 0 && len(out) > most {
		out, s.ready = out[:most:most], out[most:]
	}
	s.Waiting = dry && len(s.ready) == 0
	if s.EOF {
		s.Unused, s.src.in, s.Waiting = append(s.Unused, s.src.in...), nil, false
	}
	return out, nil
}

// Close ends the coroutine of a stream that is not read to its end.
func (s *Stream) Close() { s.stop() }

// Class describes the class of Python's of decompressors: decompress, eof, needs_input and unused_data. It holds what of gives the Stream of;
// failed makes Python's error of the decoder's.
func Class(name, module, ended string, of func(o vm.Object) *Stream, failed func(in *vm.Interp, err error) error) vm.Spec {
	get := func(name string, f func(s *Stream) vm.Object) *vm.GetSet {
		return &vm.GetSet{Name: name, Get: func(_ *vm.Interp, self vm.Object) (vm.Object, error) { return f(of(self)), nil }}
	}
	return vm.Spec{Name: name, Module: module, NoDict: true, Strict: true,
		Methods: map[string]vm.GoFunc{
			"__init__": func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) { return vm.None, nil },
			"decompress": clinic.Method("decompress", "data:bytes, max_length:int=-1", func(c *clinic.Call) (vm.Object, error) {
				s := of(c.Self)
				if s.EOF && len(s.ready) == 0 {
					return nil, c.Errorf(c.Exc.EOFError, "%s", ended)
				}
				b, err := s.Feed(c.Bytes(0), int(c.Int(1)))
				if err != nil {
					return nil, failed(c.Interp, err)
				}
				return vm.Bytes(b), nil
			}),
			"__reduce_ex__": Unpicklable, "__reduce__": Unpicklable,
		},
		GetSet: []*vm.GetSet{
			get("eof", func(s *Stream) vm.Object { return vm.MakeBool(s.EOF && len(s.ready) == 0) }),
			get("needs_input", func(s *Stream) vm.Object { return vm.MakeBool(s.Waiting) }),
			get("unused_data", func(s *Stream) vm.Object { return vm.Bytes(s.Unused) }),
		}}
}

// Unpicklable is __reduce_ex__ of what cannot be pickled.
func Unpicklable(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
	return nil, in.Errorf(in.Exc.TypeError, "cannot pickle '%s' object", a[0].Type().FullName())
}
