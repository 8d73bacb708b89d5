package pyio_test

import (
	"bytes"
	"testing"

	"whittle/capture/python/stdlib"
	"whittle/capture/python/vm"
)

// places is a program that notes the places of a text after every few characters, and then reads from each of them again.
const places = `
import io
def check(data, step):
    text = data.decode("utf-8", "replace")
    f = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", errors="replace", newline="")
    f._CHUNK_SIZE = 5
    marks, at = [], 0
    while True:
        marks.append((f.tell(), at))
        got = f.read(step)
        if not got:
            break
        at += len(got)
    for cookie, at in reversed(marks):
        f.seek(cookie)
        assert f.read() == text[at:], (data, step, cookie, at)
check(DATA, STEP)
`

// FuzzTellSeek holds that seek goes back to where tell was called: what is read from there is the rest of the text.
func FuzzTellSeek(f *testing.F) {
	f.Add([]byte("a\r\né€\U0001f600b\xff\xc3"), 1)
	f.Add([]byte("abc\rdef\r"), 2)
	f.Fuzz(func(t *testing.T, data []byte, step int) {
		if len(data) > 200 {
			return
		}
		in := vm.New()
		stdlib.Register(in)
		in.Stdout = &bytes.Buffer{}
		in.Builtins.Set("DATA", vm.Bytes(data))
		in.Builtins.Set("STEP", vm.MakeInt(int64(1+(step&7))))
		if err := in.RunText("places.py", places); err != nil {
			t.Error(in.FormatException(err))
		}
	})
}
