package engine

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
)

// maxFrame bounds a message; a length beyond it is rubbish.
const maxFrame = 256 << 20

// writeFrame writes one message: four bytes of length, big endian, then JSON.
func writeFrame(w io.Writer, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if len(b) > maxFrame {
		return fmt.Errorf("message of %d bytes", len(b))
	}
	_, err = w.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...))
	return err
}

// readFrame reads one message.
func readFrame(r io.Reader, v any) error {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > maxFrame {
		return fmt.Errorf("message of %d bytes", n)
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err != nil {
		return err
	}
	return json.Unmarshal(b, v)
}

// cutFrame takes a whole message off the front of buf; n is 0 while it is not whole.
func cutFrame(buf []byte, v any) (n int, err error) {
	if len(buf) < 4 {
		return 0, nil
	}
	size := binary.BigEndian.Uint32(buf)
	if size > maxFrame {
		return 0, fmt.Errorf("rubbish on the pipe: message of %d bytes", size)
	}
	if len(buf) < 4+int(size) {
		return 0, nil
	}
	if err := json.Unmarshal(buf[4:4+size], v); err != nil {
		return 0, fmt.Errorf("rubbish on the pipe: %w", err)
	}
	return 4 + int(size), nil
}
