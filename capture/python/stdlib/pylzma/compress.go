package pylzma

import (
	"bytes"
	"hash"
	"io"

	"github.com/ulikunitz/xz/lzma"
)

// compressor writes a stream.
type compressor struct {
	format, kind int
	chain        []filter
	out, body    bytes.Buffer // what can be taken, and what the coder has written since it was last looked at
	w            io.WriteCloser
	convert      []func(p []byte, final bool) []byte // the filters in front of the coder
	sum          hash.Hash
	whole        uint64
	packed       uint64
	head         int // length of the block's header
	skip         int // of what the coder writes first, so much is a header that is not wanted
	done         bool
}

// open begins the stream.
func (z *compressor) open() error {
	if err := checkChain(z.chain); err != nil {
		return err
	}
	if z.format == formatXZ {
		if z.chain[len(z.chain)-1].id != filterLZMA2 {
			return errOption
		}
		z.out.Write(streamHeader(z.kind))
		z.sum = newCheck(z.kind)
		return nil
	}
	if z.format == formatAlone && (len(z.chain) != 1 || z.chain[0].id != filterLZMA1) {
		return errOption
	}
	return z.coder()
}

// coder makes the writer of the chain's last filter, and the filters in front of it.
func (z *compressor) coder() (err error) {
	last := z.chain[len(z.chain)-1]
	if last.id == filterLZMA2 {
		z.w, err = lzma.Writer2Config{Properties: last.properties(), DictCap: last.dictCap()}.NewWriter2(&z.body)
	} else {
		z.w, err = lzma.WriterConfig{Properties: last.properties(), DictCap: last.dictCap(), EOSMarker: true}.NewWriter(&z.body)
		if z.format == formatRaw {
			z.skip = lzma.HeaderLen
		}
	}
	for _, f := range z.chain[:len(z.chain)-1] {
		if f.id == filterDelta {
			d := &delta{dist: f.dist}
			z.convert = append(z.convert, func(p []byte, _ bool) []byte { d.encode(p); return p })
			continue
		}
		x, held := &x86{at: f.start}, []byte(nil)
		z.convert = append(z.convert, func(p []byte, final bool) []byte {
			held = append(held, p...)
			n := x.convert(held, true)
			if final {
				n = len(held)
			}
			out := held[:n:n]
			held = held[n:]
			return out
		})
	}
	return err
}

// write compresses data; final ones are the last.
func (z *compressor) write(data []byte, final bool) error {
	if z.format == formatXZ && z.w == nil {
		if len(data) == 0 {
			return nil // a stream of nothing has no block
		}
		head := blockHeader(z.chain)
		z.head = len(head)
		z.out.Write(head)
		if err := z.coder(); err != nil {
			return err
		}
	}
	z.whole += uint64(len(data))
	if z.sum != nil {
		z.sum.Write(data)
	}
	data = bytes.Clone(data)
	for _, f := range z.convert {
		data = f(data, final)
	}
	_, err := z.w.Write(data)
	z.collect()
	return err
}

// collect moves what the coder has written.
func (z *compressor) collect() {
	b := z.body.Bytes()
	n := min(z.skip, len(b))
	z.skip -= n
	z.packed += uint64(len(b))
	z.out.Write(b[n:])
	z.body.Reset()
}

// finish ends the stream.
func (z *compressor) finish() error {
	var blocks [][2]uint64
	if z.w != nil {
		if len(z.convert) > 0 {
			if err := z.write(nil, true); err != nil {
				return err
			}
		}
		if err := z.w.Close(); err != nil {
			return err
		}
		z.collect()
	}
	if z.format != formatXZ {
		return nil
	}
	if z.w != nil {
		size := uint64(z.head) + z.packed
		z.out.Write(make([]byte, -size&3))
		z.out.Write(sumOf(z.kind, z.sum))
		blocks = append(blocks, [2]uint64{size + uint64(checkSize(z.kind)), z.whole})
	}
	z.out.Write(index(z.kind, blocks))
	return nil
}
