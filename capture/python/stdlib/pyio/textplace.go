package pyio

import (
	"encoding/binary"
	"math/big"
	"slices"

	"whittle/capture/python/vm"
)

// cookie is what tell gives: how to come back to a place in a text file. It begins where the decoder has no half of a character in mind.
type cookie struct {
	start int64 // where to read from
	flags int32 // the decoder's state there
	feed  int32 // so many bytes are decoded
	skip  int32 // and so many characters of what they give are skipped
	end   byte  // 1: the decoder is told that nothing follows
}

// cookieSize is the length of a cookie in bytes. As a number they are little-endian, so that a cookie of nothing but a start is that start.
const cookieSize = 8 + 3*4 + 1

// number is the cookie as an int.
func (c cookie) number() vm.Object {
	var b []byte
	b = binary.LittleEndian.AppendUint64(b, uint64(c.start))
	for _, n := range []int32{c.flags, c.feed, c.skip} {
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
	}
	b = append(b, c.end)
	slices.Reverse(b)
	return vm.MakeBig(new(big.Int).SetBytes(b))
}

// parseCookie reads what number has written.
func parseCookie(in *vm.Interp, n *big.Int) (c cookie, err error) {
	if n.BitLen() > 8*cookieSize {
		return c, in.Errorf(in.Exc.OverflowError, "int too big to convert")
	}
	b := n.FillBytes(make([]byte, cookieSize))
	slices.Reverse(b)
	at := func(i int) int32 { return int32(binary.LittleEndian.Uint32(b[i:])) }
	return cookie{int64(binary.LittleEndian.Uint64(b)), at(8), at(12), at(16), b[20]}, nil
}

// tell is the place of the next character.
func (t *textIO) tell(in *vm.Interp) (vm.Object, error) {
	if err := t.check(in); err != nil {
		return nil, err
	}
	if !t.seekable {
		return nil, t.m.noSupport(in, "underlying stream is not seekable")
	}
	if !t.telling {
		return nil, in.Errorf(in.Exc.OSError, "telling position disabled by next() call")
	}
	if err := t.passOn(in); err != nil {
		return nil, err
	}
	if self := t.self.Value(); self != nil {
		if _, err := in.CallMethod(self, "flush"); err != nil {
			return nil, err
		}
	}
	v, err := in.CallMethod(t.buffer, "tell")
	if err != nil || t.decoder == nil || !t.snapshot {
		return v, err
	}
	at, err := in.Index(v)
	if err != nil {
		return nil, err
	}
	at -= int64(len(t.snapshotInput))
	if t.used == 0 {
		return cookie{start: at, flags: int32(t.snapshotFlags)}.number(), nil
	}
	rest, flags, err := t.decoder.state(in)
	if err != nil {
		return nil, err
	}
	c, err := t.place(in, at, chars(t.decoded[:t.used]))
	if serr := t.decoder.setState(in, rest, flags); err == nil {
		err = serr
	}
	if err != nil {
		return nil, err
	}
	return c.number(), nil
}

// place finds where the decoder has given n characters of the snapshot.
func (t *textIO) place(in *vm.Interp, at int64, n int) (cookie, error) {
	from, flags, n, err := t.near(in, n)
	if err != nil {
		return cookie{}, err
	}
	c := cookie{start: at + int64(from), flags: int32(flags)}
	if n == 0 {
		return c, nil
	}
	decoded := 0
	for i := from; i < len(t.snapshotInput); i++ {
		s, err := t.decoder.decode(in, t.snapshotInput[i:i+1], false)
		if err != nil {
			return c, err
		}
		c.feed++
		decoded += chars(s)
		rest, flags, err := t.decoder.state(in)
		if err != nil {
			return c, err
		}
		if len(rest) == 0 && decoded <= n { // a better start
			c.start, c.flags, c.feed = c.start+int64(c.feed), int32(flags), 0
			n -= decoded
			decoded = 0
		}
		if decoded >= n {
			c.skip = int32(n)
			return c, nil
		}
	}
	s, err := t.decoder.decode(in, nil, true)
	if err != nil {
		return c, err
	}
	c.end, c.skip = 1, int32(n)
	if decoded+chars(s) < n {
		return c, in.Errorf(in.Exc.OSError, "can't reconstruct logical file position")
	}
	return c, nil
}

// near finds a start not far before the n-th character, by how many bytes characters had of late: the bytes before it, the decoder's state, and
// the characters that are left. The decoder is left there.
func (t *textIO) near(in *vm.Interp, n int) (from int, flags int64, left int, err error) {
	back := 1
	for from = min(int(t.ratio*float64(n)), len(t.snapshotInput)); from > 0; {
		if err := t.decoder.setState(in, nil, t.snapshotFlags); err != nil {
			return 0, 0, 0, err
		}
		s, err := t.decoder.decode(in, t.snapshotInput[:from], false)
		if err != nil {
			return 0, 0, 0, err
		}
		if k := chars(s); k <= n {
			rest, flags, err := t.decoder.state(in)
			if err != nil {
				return 0, 0, 0, err
			}
			if len(rest) == 0 {
				return from, flags, n - k, nil
			}
			from -= len(rest)
			back = 1
			continue
		}
		from -= back
		back *= 2
	}
	return 0, t.snapshotFlags, n, t.decoder.setState(in, nil, t.snapshotFlags)
}

// seek goes to a place that tell has given, or to the start or the end.
func (t *textIO) seek(in *vm.Interp, a []vm.Object) (vm.Object, error) {
	if err := t.check(in); err != nil {
		return nil, err
	}
	whence := int64(0)
	if len(a) > 1 {
		var err error
		if whence, err = in.Index(a[1]); err != nil {
			return nil, err
		}
	}
	if !t.seekable {
		return nil, t.m.noSupport(in, "underlying stream is not seekable")
	}
	zero, err := in.Eq(a[0], vm.MakeInt(0))
	if err != nil {
		return nil, err
	}
	target := a[0]
	switch whence {
	case 0:
	case 1:
		if !zero {
			return nil, t.m.noSupport(in, "can't do nonzero cur-relative seeks")
		}
		if target, err = in.CallMethod(t.self.Value(), "tell"); err != nil {
			return nil, err
		}
	case 2:
		if !zero {
			return nil, t.m.noSupport(in, "can't do nonzero end-relative seeks")
		}
		return t.seekEnd(in)
	default:
		return nil, in.Errorf(in.Exc.ValueError, "invalid whence (%d, should be 0, 1 or 2)", whence)
	}
	n, err := in.IndexBig(target)
	if err != nil {
		return nil, err
	}
	if n.Sign() < 0 {
		r, _ := in.Repr(target)
		return nil, in.Errorf(in.Exc.ValueError, "negative seek position %s", r)
	}
	if _, err := in.CallMethod(t.self.Value(), "flush"); err != nil {
		return nil, err
	}
	c, err := parseCookie(in, n)
	if err != nil {
		return nil, err
	}
	return target, t.goTo(in, c)
}

// seekEnd goes to the end of the file.
func (t *textIO) seekEnd(in *vm.Interp) (vm.Object, error) {
	if _, err := in.CallMethod(t.self.Value(), "flush"); err != nil {
		return nil, err
	}
	t.setDecoded("")
	t.snapshot = false
	if t.decoder != nil {
		if err := t.decoder.reset(in); err != nil {
			return nil, err
		}
	}
	v, err := in.CallMethod(t.buffer, "seek", vm.MakeInt(0), vm.MakeInt(2))
	if err != nil || t.encoder == nil {
		return v, err
	}
	n, _ := vm.AsInt(v)
	return v, t.encoder.setStart(in, n == 0)
}

// goTo goes to a place.
func (t *textIO) goTo(in *vm.Interp, c cookie) error {
	if _, err := in.CallMethod(t.buffer, "seek", vm.MakeInt(c.start)); err != nil {
		return err
	}
	t.setDecoded("")
	t.snapshot = false
	if t.decoder != nil {
		var err error
		if c == (cookie{}) {
			err = t.decoder.reset(in)
		} else {
			err = t.decoder.setState(in, nil, int64(c.flags))
		}
		if err != nil {
			return err
		}
		t.snapshot, t.snapshotFlags, t.snapshotInput = true, int64(c.flags), nil
	}
	if c.skip > 0 && t.decoder != nil {
		if err := t.goOn(in, c); err != nil {
			return err
		}
	}
	if t.encoder != nil {
		return t.encoder.setStart(in, c.start == 0 && c.flags == 0)
	}
	return nil
}

// goOn decodes again what leads from the start of a cookie to its place.
func (t *textIO) goOn(in *vm.Interp, c cookie) error {
	v, err := in.CallMethod(t.buffer, "read", vm.MakeInt(int64(c.feed)))
	if err != nil {
		return err
	}
	data, ok := vm.AsBytes(v)
	if !ok {
		return in.Errorf(in.Exc.TypeError, "underlying read() should have returned a bytes object, not '%s'", vm.TypeName(v))
	}
	t.snapshotInput = slices.Clone(data)
	s, err := t.decoder.decode(in, data, c.end != 0)
	if err != nil {
		return err
	}
	t.setDecoded(s)
	off, k := skip(s, int(c.skip))
	if k < int(c.skip) {
		return in.Errorf(in.Exc.OSError, "can't restore logical file position")
	}
	t.used = off
	return nil
}
