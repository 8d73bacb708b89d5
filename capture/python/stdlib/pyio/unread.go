package pyio

import (
	"bytes"
	"cmp"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"whittle/capture/python/vm"
)

// Unread is a file that is open for reading alone, by what it has left.
type Unread struct {
	Name, Mode, Encoding string
	Data                 []byte
}

// UnreadOf says what a file has left, without reading it. isFile is false for other objects; ok is false for files that write, are closed, or are
// of other encodings than UTF-8.
func UnreadOf(o vm.Object) (u Unread, isFile, ok bool) {
	self, isInst := o.(*vm.Instance)
	if !isInst {
		return u, false, false
	}
	u.Mode = "rb"
	if t, isText := self.Native.(*textIO); isText {
		d, utf8 := t.utf8Decoder()
		if !t.ready || !t.plain() || !utf8 || t.encoder != nil {
			return u, true, false
		}
		u.Data = append([]byte(t.decoded[t.used:]), d.rest...)
		u.Mode, u.Encoding, self = "r", t.encoding, t.inst
	}
	b, isBuffer := self.Native.(*buffered)
	if !isBuffer || !b.ready || b.writable || !b.raw.plain() {
		return u, isBuffer, false
	}
	u.Data = append(u.Data, b.unread()...)
	var rest []byte
	switch f := b.raw.own.(type) {
	case *fileIO:
		path, _ := b.raw.inst.Dict.GetStr("name")
		u.Name, _ = vm.AsStr(path)
		rest, ok = f.unread()
	case *stream:
		u.Name = f.name
		rest, ok = f.unread()
	}
	u.Data = append(u.Data, rest...)
	return u, true, ok
}

// utf8Decoder is the decoder of UTF-8 beneath a text file, if it has one and no \r waits for what follows it.
func (t *textIO) utf8Decoder() (*builtin, bool) {
	d := t.decoder
	if n, ok := d.(*newlineDecoder); ok {
		if n.pendingCR {
			return nil, false
		}
		d = n.inner
	}
	b, ok := d.(*builtin)
	return b, ok && b.encoding == "utf-8"
}

// unread is what a file has left.
func (f *fileIO) unread() ([]byte, bool) {
	if f.fd < 0 {
		return nil, false
	}
	at, err := unix.Seek(f.fd, 0, 1)
	var st unix.Stat_t
	if err != nil || unix.Fstat(f.fd, &st) != nil || st.Size < at {
		return nil, false
	}
	data := make([]byte, st.Size-at)
	for done := 0; done < len(data); {
		n, err := unix.Pread(f.fd, data[done:], at+int64(done))
		if n <= 0 || err != nil {
			return nil, false
		}
		done += n
	}
	return data, true
}

func (s *stream) unread() ([]byte, bool) {
	if s.data == nil || s.closed {
		return nil, false
	}
	data := make([]byte, s.data.Len())
	_, err := s.data.ReadAt(data, s.data.Size()-int64(len(data)))
	return data, err == nil || err == io.EOF
}

// Open makes a file that reads what another had left, and has nothing else behind it.
func (u Unread) Open(in *vm.Interp) (vm.Object, error) {
	m := of(in)
	data := bytes.NewReader(u.Data)
	s := &stream{m: m, name: u.Name, data: data, read: data.Read, flush: func() error { return nil }, file: func() *os.File { return nil }}
	universal, err := newlineOf(in, vm.None)
	if err != nil {
		return nil, err
	}
	text, err := m.textOver(in, s, m.reader, textOptions{encoding: cmp.Or(u.Encoding, "UTF-8"), errors: vm.Str("strict"), newline: universal})
	if err != nil || u.Mode == "r" {
		return text, err
	}
	return text.Native.(*textIO).buffer, nil
}
