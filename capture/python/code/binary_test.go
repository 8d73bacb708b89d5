package code

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const binarySample = `
class C(B, k=(1, 2.5, -0.0, 3j, b"x", ..., None, True)):
    def m(self, *a, k=10**30, **kw):
        try:
            return [x for x in a if x in {1, 2}]
        except E as e:
            yield super().m
async def f():
    async with a as b: pass
`

func TestMarshal(t *testing.T) {
	c, err := CompileSource("t.py", binarySample, Exec)
	if err != nil {
		t.Fatal(err)
	}
	data, ok := Marshal(c)
	if !ok {
		t.Fatal("not marshalled")
	}
	back, err := Unmarshal(data)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(c.String(), back.String()); d != "" {
		t.Errorf("(-written +read)\n%s", d)
	}
}

// Damage anywhere is noticed.
func TestUnmarshalDamaged(t *testing.T) {
	c, err := CompileSource("t.py", binarySample, Exec)
	if err != nil {
		t.Fatal(err)
	}
	data, _ := Marshal(c)
	for i := range data {
		bad := append([]byte{}, data...)
		bad[i] ^= 0x55
		if _, err := Unmarshal(bad); err == nil {
			t.Fatalf("byte %d changed: no error", i)
		}
		if _, err := Unmarshal(data[:i]); err == nil {
			t.Fatalf("cut at %d: no error", i)
		}
	}
}

// What is behind the sum may be anything and is read without a panic.
func FuzzBinaryReader(f *testing.F) {
	c, err := CompileSource("t.py", binarySample, Exec)
	if err != nil {
		f.Fatal(err)
	}
	w := &binaryWriter{numbers: map[string]uint64{}}
	w.code(c)
	f.Add(w.out)
	f.Fuzz(func(t *testing.T, data []byte) {
		r := &binaryReader{in: data, texts: []string{"a", "b", "c"}}
		r.code(0)
	})
}
