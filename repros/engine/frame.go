package engine

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
)

// maxFrame bounds a message; a length beyond it is rubbish.
const maxFrame = 1 << 30

// Frame is a message as it goes over a pipe: four bytes of length, big endian, then JSON.
func Frame(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	if len(b) > maxFrame {
		return nil, fmt.Errorf("a message of %d bytes", len(b))
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...), nil
}

// WriteFrame writes one message.
func WriteFrame(w io.Writer, v any) error {
	b, err := Frame(v)
	if err == nil {
		_, err = w.Write(b)
	}
	return err
}

// RawFrame reads one message as it came, with its length. The error is io.EOF when the other side is gone between messages.
func RawFrame(r io.Reader) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > maxFrame {
		return nil, fmt.Errorf("rubbish on the pipe: a message of %d bytes", n)
	}
	// The length is a claim; memory is spent only on what comes.
	b := bytes.NewBuffer(head[:])
	if _, err := b.ReadFrom(io.LimitReader(r, int64(n))); err != nil {
		return nil, err
	}
	if b.Len() < len(head)+int(n) {
		return nil, io.ErrUnexpectedEOF
	}
	return b.Bytes(), nil
}

// ReadFrame reads one message into v. Errors are RawFrame's, or that it is none.
func ReadFrame(r io.Reader, v any) error {
	b, err := RawFrame(r)
	if err != nil {
		return err
	}
	return decode(b[4:], v)
}

// CutFrame takes a whole message off the front of buf and says how many bytes it took; 0 while the message is not whole.
func CutFrame(buf []byte, v any) (n int, err error) {
	if len(buf) < 4 {
		return 0, nil
	}
	size := binary.BigEndian.Uint32(buf)
	if size > maxFrame {
		return 0, fmt.Errorf("rubbish on the pipe: a message of %d bytes", size)
	}
	if len(buf) < 4+int(size) {
		return 0, nil
	}
	return 4 + int(size), decode(buf[4:4+size], v)
}

func decode(body []byte, v any) error {
	if err := json.Unmarshal(body, v); err != nil {
		return fmt.Errorf("rubbish on the pipe: %w", err)
	}
	return nil
}
