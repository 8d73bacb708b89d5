package stdlib

import (
	"encoding/hex"
	"hash/crc32"
	"strings"

	"whittle/capture/python/vm"
)

// binascii is the module of that name: its functions, and the two exceptions.
type binascii struct{ err, incomplete *vm.Type }

func binasciiModule(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("binascii", "Conversion between binary data and ASCII")
	b := &binascii{}
	for name, e := range map[string]struct {
		base *vm.Type
		to   **vm.Type
	}{"Error": {in.Exc.ValueError, &b.err}, "Incomplete": {in.Exc.Exception, &b.incomplete}} {
		t, err := in.MakeClass(vm.TypeType, name, []*vm.Type{e.base}, vm.StrDict("__module__", vm.Str("binascii")))
		if err != nil {
			return nil, err
		}
		*e.to = t
		m.Set(name, t)
	}
	add := func(name, sig string, ascii bool, f func(in *vm.Interp, data []byte, a []vm.Object) (vm.Object, error)) {
		params := vm.NewParams(name, sig)
		m.Func(name, func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			a, err := params.Bind(in, args, kw)
			if err != nil {
				return nil, err
			}
			data, err := asciiData(in, a[0], ascii)
			if err != nil {
				return nil, err
			}
			return f(in, data, a[1:])
		})
	}
	add("hexlify", "data, sep=nil, bytes_per_sep=1", false, hexlify)
	add("b2a_hex", "data, sep=nil, bytes_per_sep=1", false, hexlify)
	add("unhexlify", "hexstr, /", true, b.unhexlify)
	add("a2b_hex", "hexstr, /", true, b.unhexlify)
	add("b2a_base64", "data, /, *, newline=True", false, b2aBase64)
	add("a2b_base64", "data, /, *, strict_mode=False", true, b.a2bBase64)
	add("b2a_uu", "data, /, *, backtick=False", false, b.b2aUU)
	add("a2b_uu", "data, /", true, b.a2bUU)
	add("b2a_qp", "data, quotetabs=False, istext=True, header=False", false, b2aQP)
	add("a2b_qp", "data, header=False", true, a2bQP)
	add("crc32", "data, crc=0, /", false, func(in *vm.Interp, data []byte, a []vm.Object) (vm.Object, error) {
		n, err := in.IndexBig(a[0])
		if err != nil {
			return nil, err
		}
		return vm.MakeInt(int64(crc32.Update(uint32(low64(n)), crc32.IEEETable, data))), nil
	})
	add("crc_hqx", "data, crc, /", false, func(in *vm.Interp, data []byte, a []vm.Object) (vm.Object, error) {
		n, err := in.IndexBig(a[0])
		if err != nil {
			return nil, err
		}
		crc := uint16(low64(n))
		for _, c := range data {
			crc ^= uint16(c) << 8
			for range 8 {
				if crc&0x8000 != 0 {
					crc = crc<<1 ^ 0x1021
				} else {
					crc <<= 1
				}
			}
		}
		return vm.MakeInt(int64(crc)), nil
	})
	return m, nil
}

// asciiData reads an argument: bytes, or, where that is allowed, a str of ASCII.
func asciiData(in *vm.Interp, o vm.Object, ascii bool) ([]byte, error) {
	if s, ok := vm.AsStr(o); ok && ascii {
		for i := range len(s) {
			if s[i] >= 0x80 {
				return nil, in.Errorf(in.Exc.ValueError, "string argument should contain only ASCII characters")
			}
		}
		return []byte(s), nil
	}
	b, ok := vm.AsBytes(o)
	if !ok && ascii {
		return nil, in.Errorf(in.Exc.TypeError, "argument should be bytes, buffer or ASCII string, not '%s'", vm.TypeName(o))
	}
	if !ok {
		return nil, in.Errorf(in.Exc.TypeError, "a bytes-like object is required, not '%s'", vm.TypeName(o))
	}
	return b, nil
}

func hexlify(in *vm.Interp, data []byte, a []vm.Object) (vm.Object, error) {
	if a[0] == nil {
		return vm.Bytes(hex.EncodeToString(data)), nil
	}
	s, err := in.CallMethod(vm.Bytes(data), "hex", a...)
	return vm.Bytes(str(s)), err
}

func (b *binascii) unhexlify(in *vm.Interp, data []byte, _ []vm.Object) (vm.Object, error) {
	if len(data)%2 != 0 {
		return nil, in.Errorf(b.err, "Odd-length string")
	}
	out := make([]byte, len(data)/2)
	if _, err := hex.Decode(out, data); err != nil {
		return nil, in.Errorf(b.err, "Non-hexadecimal digit found")
	}
	return vm.Bytes(out), nil
}

const base64Digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

func b2aBase64(in *vm.Interp, data []byte, a []vm.Object) (vm.Object, error) {
	newline, err := truthOfInt(in, a[0])
	if err != nil {
		return nil, err
	}
	var out []byte
	bits, n := uint32(0), 0
	for _, c := range data {
		bits, n = bits<<8|uint32(c), n+8
		for ; n >= 6; n -= 6 {
			out = append(out, base64Digits[bits>>(n-6)&63])
		}
	}
	if n > 0 {
		out = append(out, base64Digits[bits<<(6-n)&63])
		out = append(out, "=="[:(6-n)/2]...)
	}
	if newline {
		out = append(out, '\n')
	}
	return vm.Bytes(out), nil
}

// a2bBase64 passes over what is no digit, and stops at the padding that completes a group. In strict mode neither is allowed.
func (b *binascii) a2bBase64(in *vm.Interp, data []byte, a []vm.Object) (vm.Object, error) {
	strict, err := truthOfInt(in, a[0])
	if err != nil {
		return nil, err
	}
	fail := func(format string, args ...any) (vm.Object, error) { return nil, in.Errorf(b.err, format, args...) }
	if strict && len(data) > 0 && data[0] == '=' {
		return fail("Leading padding not allowed")
	}
	var out []byte
	quad, pads, left := 0, 0, uint32(0)
	for i, c := range data {
		if c == '=' {
			pads++
			if quad >= 2 && quad+pads >= 4 {
				if strict && i+1 < len(data) {
					return fail("Excess data after padding")
				}
				return vm.Bytes(out), nil
			}
			continue
		}
		d := strings.IndexByte(base64Digits, c)
		if d < 0 {
			if strict {
				return fail("Only base64 data is allowed")
			}
			continue
		}
		if strict && pads > 0 {
			return fail("Discontinuous padding not allowed")
		}
		pads = 0
		left = left<<6 | uint32(d)
		if quad > 0 {
			out = append(out, byte(left>>(6-2*quad)))
		}
		quad = (quad + 1) % 4
	}
	switch quad {
	case 0:
		return vm.Bytes(out), nil
	case 1:
		return fail("Invalid base64-encoded string: number of data characters (%d) cannot be 1 more than a multiple of 4", len(out)/3*4+1)
	}
	return fail("Incorrect padding")
}

func (b *binascii) b2aUU(in *vm.Interp, data []byte, a []vm.Object) (vm.Object, error) {
	backtick, err := truthOfInt(in, a[0])
	if err != nil {
		return nil, err
	}
	if len(data) > 45 {
		return nil, in.Errorf(b.err, "At most 45 bytes at once")
	}
	char := func(v uint32) byte {
		if v&63 == 0 && backtick {
			return '`'
		}
		return byte(v&63) + ' '
	}
	out := []byte{char(uint32(len(data)))}
	for i := 0; i < len(data); i += 3 {
		var g [3]byte
		copy(g[:], data[i:])
		v := uint32(g[0])<<16 | uint32(g[1])<<8 | uint32(g[2])
		out = append(out, char(v>>18), char(v>>12), char(v>>6), char(v))
	}
	return vm.Bytes(append(out, '\n')), nil
}

func (b *binascii) a2bUU(in *vm.Interp, data []byte, _ []vm.Object) (vm.Object, error) {
	if len(data) == 0 { // CPython reads the NUL behind it as a length
		return vm.Bytes(make([]byte, 32)), nil
	}
	n := int(data[0]-' ') & 63
	data = data[1:]
	var out []byte
	bits, left := uint32(0), 0
	for len(out) < n {
		c := byte(' ')
		if len(data) > 0 {
			c, data = data[0], data[1:]
		}
		switch {
		case c == '\n' || c == '\r':
			c, data = ' ', nil
		case c < ' ' || c > ' '+64:
			return nil, in.Errorf(b.err, "Illegal char")
		}
		bits, left = bits<<6|uint32(c-' ')&63, left+6
		if left >= 8 {
			left -= 8
			out = append(out, byte(bits>>left))
		}
	}
	for _, c := range data {
		if c != ' ' && c != ' '+64 && c != '\n' && c != '\r' {
			return nil, in.Errorf(b.err, "Trailing garbage")
		}
	}
	return vm.Bytes(out), nil
}

// a2bQP decodes quoted-printable text.
func a2bQP(in *vm.Interp, data []byte, a []vm.Object) (vm.Object, error) {
	header, err := truthOfInt(in, a[0])
	if err != nil {
		return nil, err
	}
	var out []byte
	for i := 0; i < len(data); i++ {
		c := data[i]
		switch {
		case c == '=' && i+1 >= len(data):
		case c == '=' && (data[i+1] == '\n' || data[i+1] == '\r'):
			for i+1 < len(data) && data[i+1] != '\n' {
				i++
			}
			i++
		case c == '=' && data[i+1] == '=':
			out = append(out, '=')
			i++
		case c == '=' && i+2 < len(data) && isHex(data[i+1]) && isHex(data[i+2]):
			v, _ := hex.DecodeString(string(data[i+1 : i+3]))
			out = append(out, v...)
			i += 2
		case c == '_' && header:
			out = append(out, ' ')
		default:
			out = append(out, c)
		}
	}
	return vm.Bytes(out), nil
}

func isHex(c byte) bool { return c-'0' < 10 || c|0x20-'a' < 6 }

// b2aQP encodes text as quoted-printable, in lines of at most 76 characters.
func b2aQP(in *vm.Interp, data []byte, a []vm.Object) (vm.Object, error) {
	var flags [3]bool
	for i := range flags {
		var err error
		if flags[i], err = truthOfInt(in, a[i]); err != nil {
			return nil, err
		}
	}
	quotetabs, istext, header := flags[0], flags[1], flags[2]
	newline := "\n"
	if i := strings.IndexByte(string(data), '\n'); i > 0 && data[i-1] == '\r' {
		newline = "\r\n"
	}
	var out []byte
	line := 0
	put := func(s string) {
		out = append(out, s...)
		line += len(s)
	}
	atEnd := func(i int) bool {
		return i >= len(data) || data[i] == '\n' || data[i] == '\r' && i+1 < len(data) && data[i+1] == '\n'
	}
	for i, c := range data {
		blank := c == ' ' || c == '\t'
		lineEnd := c == '\n' || c == '\r' && i+1 < len(data) && data[i+1] == '\n'
		quoted := c > 126 || c == '=' || header && c == '_' || c == '.' && line == 0 && (atEnd(i+1) || data[i+1] == '\r' || data[i+1] == 0) ||
			!istext && (c == '\r' || c == '\n') || blank && (i+1 == len(data) || quotetabs) || c < 33 && c != '\r' && c != '\n' && !blank ||
			c < 33 && c != '\r' && c != '\n' && quotetabs
		switch {
		case quoted:
			if line+3 >= 76 {
				out = append(append(out, '='), newline...)
				line = 0
			}
			put("=" + strings.ToUpper(hex.EncodeToString([]byte{c})))
		case istext && lineEnd:
			if c == '\r' {
				continue
			}
			if n := len(out); n > 0 && (out[n-1] == ' ' || out[n-1] == '\t') && line > 0 {
				last := out[n-1]
				out = append(out[:n-1], "="+strings.ToUpper(hex.EncodeToString([]byte{last}))...)
			}
			out = append(out, newline...)
			line = 0
		default:
			if i+1 < len(data) && !atEnd(i+1) && line+1 >= 76 {
				out = append(append(out, '='), newline...)
				line = 0
			}
			if header && c == ' ' {
				c = '_'
			}
			put(string([]byte{c}))
		}
	}
	return vm.Bytes(out), nil
}

// truthOfInt is a flag, for which only an integer may be given.
func truthOfInt(in *vm.Interp, o vm.Object) (bool, error) {
	n, err := in.Index(o)
	return n != 0, err
}
