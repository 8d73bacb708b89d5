package stdlib

import (
	"testing"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
	"whittle/capture/python/wtf8"
)

// FuzzUTF7 decodes anything, and what was encoded to what it was.
func FuzzUTF7(f *testing.F) {
	for _, s := range []string{"", "+AGE-", "+2D3eAA-x", "a+-b~\\", "+2D0-", "\xff", "+A", "é\U0001f600-"} {
		f.Add(s)
	}
	in := vm.New()
	Register(in)
	f.Fuzz(func(t *testing.T, s string) {
		d := utf7Decoder{c: &clinic.Call{Interp: in}, data: []byte(s), errors: "replace", final: true}
		if err := d.run(); err != nil {
			t.Fatal(err)
		}
		back := utf7Decoder{c: d.c, data: []byte(encodeUTF7(d.out)), errors: "strict", final: true}
		if err := back.run(); err != nil || wtf8.String(back.out) != wtf8.String(d.out) {
			t.Errorf("%q became %q (%v)", d.out, back.out, err)
		}
	})
}
