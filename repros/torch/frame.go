package torch

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
)

// maxFrame bounds a message; a length beyond it is rubbish.
const maxFrame = 1 << 30

// frame is one message as it goes over the pipe: four bytes of length, big endian, then JSON.
func frame(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	if len(b) > maxFrame {
		return nil, fmt.Errorf("torch: a message of %d bytes", len(b))
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...), nil
}

// readFrame reads one message. The error is io.EOF when the other side is gone between messages.
func readFrame(r *bufio.Reader) (answer, error) {
	var a answer
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return a, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > maxFrame {
		return a, fmt.Errorf("rubbish on the pipe: a message of %d bytes", n)
	}
	// The length is a claim; memory is spent only on what comes.
	body, err := io.ReadAll(io.LimitReader(r, int64(n)))
	if err != nil {
		return a, err
	}
	if len(body) < int(n) {
		return a, io.ErrUnexpectedEOF
	}
	if err := json.Unmarshal(body, &a); err != nil {
		return a, fmt.Errorf("rubbish on the pipe: %w", err)
	}
	return a, nil
}

// answer is one message from the far side. Result is decoded by whoever asked.
type answer struct {
	ID     int64           `json:"id"`
	Result json.RawMessage `json:"result"`
	// Missing are storages that the job needs and the far side does not hold; the job was not begun.
	Missing []string `json:"missing"`
}
