package torch

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"os/exec"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"whittle/repros/engine"
)

// unpacker runs the far side's own reading of frames on blobs of bytes: what it makes of each comes back as JSON.
const unpacker = `
import json, struct, sys
exec(compile(sys.stdin.buffer.read(struct.unpack(">I", sys.stdin.buffer.read(4))[0]), "whittle", "exec"), {"__name__": "whittle"})
from whittle_far.wire import unpack
while True:
    head = sys.stdin.buffer.read(4)
    if len(head) < 4: break
    buffer, out = bytearray(sys.stdin.buffer.read(struct.unpack(">I", head)[0])), []
    try:
        while True:
            m = unpack(buffer)
            if m is None: break
            out.append("message")
        out.append(len(buffer))
    except (ValueError, UnicodeDecodeError, RecursionError):
        out.append("rubbish")
    print(json.dumps(out), flush=True)
`

// FuzzUnpack feeds far/wire.py: whole messages come off the front, what is not whole waits, rubbish is a ValueError and nothing else.
func FuzzUnpack(f *testing.F) {
	python, err := exec.LookPath("python3")
	if err != nil {
		f.Skip("no python3")
	}
	b, err := engine.Frame(job{ID: 1, Op: "ping"})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(append(slices.Clone(b), b[:7]...))
	f.Add([]byte{0, 0, 0, 2, '{', '}'})
	f.Add([]byte{0, 0, 0, 4, 'n', 'u', 'l', 'l'})
	f.Add([]byte{255, 255, 255, 255, '{'})
	f.Add([]byte("some rubbish"))
	cmd := exec.Command(python, "-c", unpacker)
	in, err := cmd.StdinPipe()
	if err != nil {
		f.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		f.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { in.Close(); _ = cmd.Wait() })
	send := func(b []byte) error {
		_, err := in.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...))
		return err
	}
	if err := send([]byte(program())); err != nil {
		f.Fatal(err)
	}
	lines := bufio.NewReader(out)
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := send(data); err != nil {
			t.Fatal(err, stderr.String())
		}
		line, err := lines.ReadBytes('\n')
		if err != nil {
			t.Fatalf("far/wire.py: %v\n%s", err, stderr.String())
		}
		var got []any
		if err := json.Unmarshal(line, &got); err != nil {
			t.Fatal(err)
		}
		// What waits is what is left after the whole messages.
		rest := data
		for _, g := range got {
			if g == "message" {
				rest = rest[4+binary.BigEndian.Uint32(rest):]
			}
		}
		if n, waits := got[len(got)-1].(float64); waits {
			if diff := cmp.Diff(float64(len(rest)), n); diff != "" {
				t.Error(diff)
			}
		}
	})
}
