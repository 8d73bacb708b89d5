package pyio

import (
	"strings"
	"weak"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// textIO is what a TextIOWrapper holds: a text file over a file of bytes.
type textIO struct {
	m        *module
	ready    bool
	detached bool

	buffer vm.Object
	own    *buffered // the buffer, if it is one of this package: then no methods are called by name
	inst   *vm.Instance
	self   weak.Pointer[vm.Instance]

	encoding      string
	errors        vm.Object
	newline       newlineMode
	lineBuffering bool
	writeThrough  bool
	direct        bool // passes text on at once: a standard stream
	chunk         int
	seekable      bool
	telling       bool // tell works; not while the file is iterated over
	hasRead1      bool

	encoder encoder // nil: not writable
	decoder decoder // nil: not readable
	pending []byte  // written and not passed on yet

	decoded string // what the last read gave
	used    int    // so many bytes of it were taken
	scratch []byte
	// Where the file could be decoded from again: the state of the decoder before the last read, and the bytes that it was given since.
	snapshot      bool
	snapshotFlags int64
	snapshotInput []byte
	ratio         float64 // bytes for each character, of late
}

// usable raises unless there is a buffer.
func (t *textIO) usable(in *vm.Interp) error {
	switch {
	case t.ready:
		return nil
	case t.detached:
		return in.Errorf(in.Exc.ValueError, "underlying buffer has been detached")
	}
	return in.Errorf(in.Exc.ValueError, "I/O operation on uninitialized object")
}

// plain reports whether the buffer is what its class makes it.
func (t *textIO) plain() bool { return t.own != nil && t.own.ready && t.inst.Dict == nil }

// isClosed asks the buffer.
func (t *textIO) isClosed(in *vm.Interp) (bool, error) {
	if t.plain() {
		return t.own.raw.isClosed(in)
	}
	return isClosed(in, t.buffer)
}

// check raises unless the file is open.
func (t *textIO) check(in *vm.Interp) error {
	if err := t.usable(in); err != nil {
		return err
	}
	closed, err := t.isClosed(in)
	if err == nil && closed {
		err = closedError(in)
	}
	return err
}

// wrapParams are the parameters of TextIOWrapper.
const wrapParams = "buffer, encoding=None, errors=None, newline=None, line_buffering:bool=False, write_through:bool=False"

// init is TextIOWrapper.__init__.
func (t *textIO) init(c *clinic.Call, self *vm.Instance) error {
	in := c.Interp
	t.ready, t.detached = false, false
	encoding, err := t.encodingOf(in, c.Args[1])
	if err != nil {
		return err
	}
	errs, err := errorsOf(in, c.Args[2])
	if err != nil {
		return err
	}
	newline, err := newlineOf(in, c.Args[3])
	if err != nil {
		return err
	}
	return t.setup(in, self, c.Args[0], textOptions{encoding, errs, newline, c.Bool(4), c.Bool(5)})
}

// textOptions are the arguments of TextIOWrapper, checked.
type textOptions struct {
	encoding                    string
	errors                      vm.Object
	newline                     newlineMode
	lineBuffering, writeThrough bool
}

// encodingOf reads encoding=. There is one locale only: that of UTF-8.
func (t *textIO) encodingOf(in *vm.Interp, o vm.Object) (string, error) {
	if o == vm.None {
		return "UTF-8", nil
	}
	s, ok := vm.AsStr(o)
	switch {
	case !ok:
		return "", in.Errorf(in.Exc.TypeError, "TextIOWrapper() argument 'encoding' must be str or None, not %s", vm.ArgName(o))
	case strings.IndexByte(s, 0) >= 0:
		return "", in.Errorf(in.Exc.ValueError, "embedded null character")
	case s == "locale":
		return "UTF-8", nil
	}
	return s, nil
}

// errorsOf reads errors=.
func errorsOf(in *vm.Interp, o vm.Object) (vm.Object, error) {
	s, ok := vm.AsStr(o)
	switch {
	case o == vm.None:
		return vm.Str("strict"), nil
	case !ok:
		return nil, in.Errorf(in.Exc.TypeError, "TextIOWrapper() argument 'errors' must be str or None, not %s", vm.ArgName(o))
	case strings.IndexByte(s, 0) >= 0:
		return nil, in.Errorf(in.Exc.ValueError, "embedded null character")
	}
	return o, nil
}

// setup makes an object ready.
func (t *textIO) setup(in *vm.Interp, self *vm.Instance, buffer vm.Object, o textOptions) error {
	*t = textIO{m: t.m, buffer: buffer, self: weak.Make(self), encoding: o.encoding, errors: o.errors, newline: o.newline, lineBuffering: o.lineBuffering,
		writeThrough: o.writeThrough, chunk: bufferSize}
	if i, ok := buffer.(*vm.Instance); ok && (i.Class == t.m.reader || i.Class == t.m.writer || i.Class == t.m.random) {
		t.inst = i
		t.own, _ = i.Native.(*buffered)
	}
	if err := t.codecs(in); err != nil {
		return err
	}
	seekable, err := truth(in, buffer, "seekable")
	if err != nil {
		return err
	}
	t.seekable, t.telling = seekable, seekable
	read1, err := in.GetAttrOpt(buffer, "read1")
	if err != nil {
		return err
	}
	t.hasRead1 = read1 != nil
	t.ready = true
	if t.seekable && t.encoder != nil {
		v, err := in.CallMethod(buffer, "tell")
		if err != nil {
			return err
		}
		if at, ok := vm.AsInt(v); !ok || at != 0 {
			return t.encoder.setStart(in, false)
		}
	}
	return nil
}

// codecs finds the decoder and the encoder.
func (t *textIO) codecs(in *vm.Interp) error {
	name, known := builtins[plainName(t.encoding)]
	var info vm.Object
	if !known {
		var err error
		if info, err = textCodec(in, t.encoding); err != nil {
			return err
		}
	}
	readable, err := truth(in, t.buffer, "readable")
	if err != nil {
		return err
	}
	writable, err := truth(in, t.buffer, "writable")
	if err != nil {
		return err
	}
	errs, _ := vm.AsStr(t.errors)
	t.decoder, t.encoder = nil, nil
	if readable {
		t.decoder = &builtin{encoding: name, errors: errs}
		if !known {
			d, err := in.CallMethod(info, "incrementaldecoder", t.errors)
			if err != nil {
				return err
			}
			t.decoder = pyDecoder{d}
		}
		if t.newline.universal {
			t.decoder = &newlineDecoder{inner: t.decoder, translate: t.newline.translate}
		}
	}
	if writable {
		t.encoder = builtinEncoder{name, errs}
		if !known {
			e, err := in.CallMethod(info, "incrementalencoder", t.errors)
			if err != nil {
				return err
			}
			t.encoder = pyEncoder{e}
		}
	}
	return nil
}

// write takes text.
func (t *textIO) write(in *vm.Interp, s string) error {
	if t.encoder == nil {
		return t.m.noSupport(in, "not writable")
	}
	lines := t.lineBuffering && strings.ContainsAny(s, "\n\r")
	out := s
	if t.newline.write != "" {
		out = strings.ReplaceAll(s, "\n", t.newline.write)
	}
	b, err := t.encoder.encode(in, out)
	if err != nil {
		return err
	}
	if len(t.pending)+len(b) > t.chunk {
		if err := t.passOn(in); err != nil {
			return err
		}
	}
	if len(t.pending) == 0 && len(b) > 0 {
		t.m.unwritten[t] = t.self
	}
	t.pending = append(t.pending, b...)
	if len(t.pending) >= t.chunk || t.writeThrough || t.direct || lines {
		if err := t.passOn(in); err != nil {
			return err
		}
	}
	if lines {
		if _, err := in.CallMethod(t.buffer, "flush"); err != nil {
			return err
		}
	}
	t.telling = t.seekable
	if len(t.decoded) > 0 || t.snapshot {
		t.setDecoded("")
		t.snapshot = false
		if t.decoder != nil {
			return t.decoder.reset(in)
		}
	}
	return nil
}

// passOn writes the pending bytes to the buffer.
func (t *textIO) passOn(in *vm.Interp) error {
	if len(t.pending) == 0 {
		return nil
	}
	b := t.pending
	t.pending = nil
	delete(t.m.unwritten, t)
	if t.plain() {
		_, err := t.own.writeChecked(in, b)
		t.pending = b[:0]
		return err
	}
	_, err := in.CallMethod(t.buffer, "write", ownBytes(b))
	return err
}

// flush passes everything on.
func (t *textIO) flush(in *vm.Interp) error {
	t.telling = t.seekable
	if err := t.passOn(in); err != nil {
		return err
	}
	_, err := in.CallMethod(t.buffer, "flush")
	return err
}

// pass implements holder, here and below.
func (t *textIO) pass(in *vm.Interp) error {
	if err := t.check(in); err != nil {
		return err
	}
	return t.flush(in)
}

func (t *textIO) end(in *vm.Interp) {
	if t.pass(in) == nil {
		_, _ = in.CallMethod(t.buffer, "close")
	}
}

func (t *textIO) file() (fileIdentity, bool) {
	if !t.plain() {
		return fileIdentity{}, false
	}
	return t.own.file()
}

// setDecoded replaces what was read and not taken.
func (t *textIO) setDecoded(s string) { t.decoded, t.used = s, 0 }

// readChunk reads and decodes one piece more; more is false at the end of the file.
func (t *textIO) readChunk(in *vm.Interp, hint int) (more bool, err error) {
	if t.decoder == nil {
		return false, t.m.noSupport(in, "not readable")
	}
	var rest []byte
	var flags int64
	if t.telling {
		if rest, flags, err = t.decoder.state(in); err != nil {
			return false, err
		}
	}
	want := t.chunk
	if hint > 0 {
		want = max(want, int(max(t.ratio, 1)*float64(hint)))
	}
	data, err := t.readBytes(in, want)
	if err != nil {
		return false, err
	}
	text, err := t.decoder.decode(in, data, len(data) == 0)
	t.setDecoded(text)
	if err != nil {
		return false, err
	}
	t.ratio = 0
	if n := len(text); n > 0 {
		t.ratio = float64(len(data)) / float64(chars(text))
	}
	if t.telling {
		t.snapshot, t.snapshotFlags = true, flags
		t.snapshotInput = append(append(t.snapshotInput[:0], rest...), data...)
	}
	return len(data) > 0 || text != "", nil
}

// readBytes reads a piece of the buffer, good until the next one.
func (t *textIO) readBytes(in *vm.Interp, n int) ([]byte, error) {
	if t.plain() && t.own.readable {
		if len(t.scratch) < n {
			t.scratch = make([]byte, n)
		}
		k, err := t.own.read1Checked(in, t.scratch[:n])
		return t.scratch[:k], err
	}
	how := "read"
	if t.hasRead1 {
		how = "read1"
	}
	v, err := in.CallMethod(t.buffer, how, vm.MakeInt(int64(n)))
	if err != nil {
		return nil, err
	}
	b, ok := vm.AsBytes(v)
	if !ok {
		return nil, in.Errorf(in.Exc.TypeError, "underlying %s() should have returned a bytes-like object, not '%s'", how, vm.TypeName(v))
	}
	return b, nil
}

// readAll takes the rest of the file.
func (t *textIO) readAll(in *vm.Interp) (string, error) {
	if t.decoder == nil {
		return "", t.m.noSupport(in, "not readable")
	}
	v, err := t.restOf(in)
	if err != nil {
		return "", err
	}
	b, ok := vm.AsBytes(v)
	if s, isBytes := v.(vm.Bytes); isBytes {
		b = textBytes(string(s))
	}
	if !ok {
		return "", in.Errorf(in.Exc.TypeError, "underlying read() should have returned a bytes-like object, not '%s'", vm.TypeName(v))
	}
	s, err := t.decoder.decode(in, b, true)
	if err != nil {
		return "", err
	}
	if t.used < len(t.decoded) {
		s = t.decoded[t.used:] + s
	}
	t.setDecoded("")
	t.snapshot = false
	return s, nil
}

func (t *textIO) restOf(in *vm.Interp) (vm.Object, error) {
	if t.plain() && t.own.readable {
		return t.own.readChecked(in, -1)
	}
	return in.CallMethod(t.buffer, "read")
}

// take gives at most n characters of what was decoded.
func (t *textIO) take(n int) (s string, k int) {
	off, k := skip(t.decoded[t.used:], n)
	s = t.decoded[t.used : t.used+off]
	t.used += off
	return s, k
}

// read takes n characters, all for a negative n.
func (t *textIO) read(in *vm.Interp, n int) (string, error) {
	if t.decoder == nil {
		return "", t.m.noSupport(in, "not readable")
	}
	if err := t.passOn(in); err != nil {
		return "", err
	}
	if n < 0 {
		return t.readAll(in)
	}
	s, k := t.take(n)
	if k == n {
		return s, nil
	}
	var sb strings.Builder
	sb.WriteString(s)
	for n -= k; n > 0; n -= k {
		more, err := t.readChunk(in, n)
		if err != nil {
			return "", err
		}
		if !more {
			break
		}
		s, k = t.take(n)
		sb.WriteString(s)
	}
	return sb.String(), nil
}

// readLine takes a line of at most limit characters, of any length for a negative one.
func (t *textIO) readLine(in *vm.Interp, limit int) (string, error) {
	if len(t.pending) > 0 {
		if err := t.passOn(in); err != nil {
			return "", err
		}
	}
	var parts []string
	for got := 0; ; {
		rest := t.decoded[t.used:]
		end := t.newline.lineEnd(rest)
		if t.newline.read == "\r\n" && len(parts) > 0 && strings.HasSuffix(parts[len(parts)-1], "\r") && strings.HasPrefix(rest, "\n") {
			end = 1
		}
		line := rest
		if end > 0 {
			line = rest[:end]
		}
		done := end > 0
		if limit >= 0 {
			off, k := skip(line, limit-got)
			line, got = line[:off], got+k
			done = got == limit || end > 0 && off == end
		}
		t.used += len(line)
		if done && parts == nil {
			return line, nil
		}
		if line != "" {
			parts = append(parts, line)
		}
		if done {
			return strings.Join(parts, ""), nil
		}
		more, err := t.readChunk(in, 0)
		if err != nil {
			return "", err
		}
		if !more {
			t.setDecoded("")
			t.snapshot = false
			return strings.Join(parts, ""), nil
		}
	}
}
