package engine

import (
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

// ReadFrame reads one message into v. The error is io.EOF when the other side is gone between messages.
func ReadFrame(r io.Reader, v any) error {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > maxFrame {
		return fmt.Errorf("rubbish on the pipe: a message of %d bytes", n)
	}
	// The length is a claim; memory is spent only on what comes.
	body, err := io.ReadAll(io.LimitReader(r, int64(n)))
	if err != nil {
		return err
	}
	if len(body) < int(n) {
		return io.ErrUnexpectedEOF
	}
	return decode(body, v)
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
