package pylzma

import (
	"bytes"
	"testing"
)

// FuzzRead reads anything without a panic, within a limit of memory.
func FuzzRead(f *testing.F) {
	f.Add([]byte("\xfd7zXZ\x00\x00\x04\xe6\xd6\xb4F\x02\x00!\x01\x16\x00\x00\x00t/\xe5\xa3\x01\x00\x00x\x00\x00\x00\x00E\xae\xef\x83\xf8\xee\x16\n\x00\x01\x19\x01\xa5,\x81\xcc\x1f\xb6\xf3}\x01\x00\x00\x00\x00\x04YZ"))
	f.Fuzz(func(t *testing.T, data []byte) {
		x := &xzReader{src: &counted{r: bytes.NewReader(data)}, limit: 1 << 24, known: func(int) {}}
		_ = x.read(nil, func([]byte) bool { return true })
	})
}
