package pylzma

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"io"

	"github.com/ulikunitz/xz/lzma"
)

// Errors of liblzma, by their texts.
var (
	errOption   = errors.New("Invalid or unsupported options")
	errInternal = errors.New("Internal error")
	errFormat   = errors.New("Input format not supported by decoder")
	errCorrupt  = errors.New("Corrupt input data")
	errMemory   = errors.New("Memory usage limit exceeded")
	errCheck    = errors.New("Unsupported integrity check")
	errBranch   = errors.New("Invalid or unsupported options: of the filters for machine code there is only that for x86")
)

const (
	checkNone    = 0
	checkCRC32   = 1
	checkCRC64   = 4
	checkSHA256  = 10
	checkUnknown = 16
)

var crc64Table = crc64.MakeTable(crc64.ECMA)

// newCheck is the sum of a kind of check; nil for none.
func newCheck(kind int) hash.Hash {
	switch kind {
	case checkCRC32:
		return crc32.NewIEEE()
	case checkCRC64:
		return crc64.New(crc64Table)
	case checkSHA256:
		return sha256.New()
	}
	return nil
}

// sumOf is a check as it is stored, numbers with the lowest byte first.
func sumOf(kind int, h hash.Hash) []byte {
	if h == nil {
		return nil
	}
	b := h.Sum(nil)
	if kind != checkSHA256 {
		for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
			b[i], b[j] = b[j], b[i]
		}
	}
	return b
}

// checkSize is how long a check is, by its kind, those that have no meaning yet included.
func checkSize(kind int) int { return []int{0, 4, 8, 16, 32, 64}[(kind+2)/3] }

var (
	headMagic = []byte{0xfd, '7', 'z', 'X', 'Z', 0}
	footMagic = []byte("YZ")
)

// withCRC adds the CRC-32 of b.
func withCRC(b []byte) []byte { return binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b)) }

func streamHeader(kind int) []byte {
	flags := []byte{0, byte(kind)}
	return append(append(bytes.Clone(headMagic), flags...), withCRC(flags)[2:]...)
}

// blockHeader is the header of a block of a chain.
func blockHeader(chain []filter) []byte {
	b := []byte{0, byte(len(chain) - 1)}
	for _, f := range chain {
		props := f.encoded()
		b = binary.AppendUvarint(b, f.id)
		b = binary.AppendUvarint(b, uint64(len(props)))
		b = append(b, props...)
	}
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	b[0] = byte(len(b) / 4)
	return withCRC(b)
}

// index is the end of a stream: the sizes of its blocks, without and with compression, and the footer.
func index(kind int, blocks [][2]uint64) []byte {
	b := binary.AppendUvarint([]byte{0}, uint64(len(blocks)))
	for _, s := range blocks {
		b = binary.AppendUvarint(binary.AppendUvarint(b, s[0]), s[1])
	}
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	b = withCRC(b)
	foot := append(binary.LittleEndian.AppendUint32(nil, uint32(len(b)/4-1)), 0, byte(kind))
	b = binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(foot))
	return append(append(b, foot...), footMagic...)
}

// counted counts what is read.
type counted struct {
	r byteReader
	n uint64
}

type byteReader interface {
	io.Reader
	io.ByteReader
}

// Read implements io.Reader.
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += uint64(n)
	return n, err
}

// ReadByte implements io.ByteReader.
func (c *counted) ReadByte() (byte, error) {
	b, err := c.r.ReadByte()
	if err == nil {
		c.n++
	}
	return b, err
}

// xzReader reads a stream of .xz.
type xzReader struct {
	src   *counted
	limit uint64 // of memory; 0 for none
	kind  int
	known func(kind int)
}

func (x *xzReader) bytes(n int) ([]byte, error) {
	b := make([]byte, n)
	_, err := io.ReadFull(x.src, b)
	return b, err
}

// read decodes the stream, whose first byte may have been read.
func (x *xzReader) read(first []byte, emit func([]byte) bool) error {
	rest, err := x.bytes(12 - len(first))
	if err != nil {
		return err
	}
	head := append(first, rest...)
	switch {
	case !bytes.Equal(head[:6], headMagic):
		return errFormat
	case crc32.ChecksumIEEE(head[6:8]) != binary.LittleEndian.Uint32(head[8:]):
		return errCorrupt
	case head[6] != 0 || head[7] > 15:
		return errOption
	}
	x.kind = int(head[7])
	x.known(x.kind)
	var blocks [][2]uint64
	for {
		size, err := x.src.ReadByte()
		if err != nil {
			return err
		}
		if size == 0 {
			break
		}
		sizes, err := x.block(int(size), emit)
		if err != nil {
			return err
		}
		blocks = append(blocks, sizes)
	}
	want := index(x.kind, blocks)[1:]
	got, err := x.bytes(len(want))
	if err != nil {
		return err
	}
	if !bytes.Equal(got, want) {
		return errCorrupt
	}
	return nil
}

// chain reads a block's header behind its size.
func (x *xzReader) chain(size int) (chain []filter, packed, whole uint64, err error) {
	n := (size + 1) * 4
	rest, err := x.bytes(n - 1)
	if err != nil {
		return nil, 0, 0, err
	}
	b := append([]byte{byte(size)}, rest...)
	if crc32.ChecksumIEEE(b[:n-4]) != binary.LittleEndian.Uint32(b[n-4:]) {
		return nil, 0, 0, errCorrupt
	}
	flags := b[1]
	r := bytes.NewReader(b[2 : n-4])
	number := func() (v uint64) {
		if err == nil {
			if v, err = binary.ReadUvarint(r); err != nil {
				err = errCorrupt
			}
		}
		return v
	}
	if flags&0x3c != 0 {
		return nil, 0, 0, errOption
	}
	if flags&0x40 != 0 {
		packed = number()
	}
	if flags&0x80 != 0 {
		whole = number()
	}
	for range int(flags&3) + 1 {
		id, k := number(), number()
		if err != nil || k > uint64(r.Len()) {
			return nil, 0, 0, errCorrupt
		}
		props := make([]byte, k)
		_, _ = r.Read(props)
		f, err := decodeFilter(id, props)
		if err != nil {
			return nil, 0, 0, err
		}
		chain = append(chain, f)
	}
	return chain, packed, whole, nil
}

// block decodes a block whose header has the given size, and gives its sizes.
func (x *xzReader) block(size int, emit func([]byte) bool) ([2]uint64, error) {
	start := x.src.n - 1
	chain, packed, whole, err := x.chain(size)
	if err != nil {
		return [2]uint64{}, err
	}
	if x.limit != 0 && uint64(chain[len(chain)-1].dict)+1<<16 > x.limit {
		return [2]uint64{}, errMemory
	}
	body := x.src.n
	r, err := reader(x.src, chain)
	if err != nil && err != io.EOF {
		return [2]uint64{}, err
	}
	sum := newCheck(x.kind)
	total := uint64(0)
	if err == nil {
		if err = copyTo(r, func(b []byte) bool {
			total += uint64(len(b))
			if sum != nil {
				sum.Write(b)
			}
			return emit(b)
		}); err != nil {
			return [2]uint64{}, err
		}
	}
	if packed != 0 && packed != x.src.n-body || whole != 0 && whole != total {
		return [2]uint64{}, errCorrupt
	}
	unpadded := x.src.n - start + uint64(checkSize(x.kind))
	pad, err := x.bytes(int(-(x.src.n - start) & 3))
	if err != nil {
		return [2]uint64{}, err
	}
	got, err := x.bytes(checkSize(x.kind))
	if err != nil {
		return [2]uint64{}, err
	}
	if len(bytes.Trim(pad, "\x00")) != 0 || sum != nil && !bytes.Equal(got, sumOf(x.kind, sum)) {
		return [2]uint64{}, errCorrupt
	}
	return [2]uint64{unpadded, total}, nil
}

// copyTo gives what r has, piece by piece.
func copyTo(r io.Reader, emit func([]byte) bool) error {
	for {
		buf := make([]byte, 1<<15)
		n, err := r.Read(buf)
		if n > 0 && !emit(buf[:n]) {
			return errInternal
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// readAlone decodes a stream of .lzma, whose first bytes may have been read.
func readAlone(src byteReader, first []byte, limit uint64, emit func([]byte) bool) error {
	head := make([]byte, lzma.HeaderLen)
	n := copy(head, first)
	if _, err := io.ReadFull(src, head[n:]); err != nil {
		return err
	}
	f, err := decodeFilter(filterLZMA1, head[:5])
	size := binary.LittleEndian.Uint64(head[5:])
	if err != nil || !plausible(f.dict) || size != 1<<64-1 && size >= 1<<38 {
		return errFormat
	}
	if limit != 0 && uint64(f.dict)+1<<15 > limit {
		return errMemory
	}
	r, err := lzma.NewReader(&headed{head, src})
	if err != nil {
		return err
	}
	return copyTo(r, emit)
}

// plausible says whether a .lzma file's dictionary has a size that files have: a power of two, or one and a half.
func plausible(n uint32) bool {
	if n == 1<<32-1 {
		return true
	}
	d := n - 1
	for _, s := range []uint{2, 3, 4, 8, 16} {
		d |= d >> s
	}
	return n > 0 && d+1 == n
}
