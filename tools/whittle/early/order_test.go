package early

import (
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestOrder(t *testing.T) {
	for _, o := range []Order{
		{},
		{Args: []string{"/tmp/data", "--", "a.py"}},
		{Args: []string{"/tmp/data", "--", "-c", "print('a\n')\n", "", "\xff\xfe"}, Env: []string{"A=", "B=x=y", "C=\xff"}},
		{Env: []string{"A=1"}},
	} {
		var b strings.Builder
		if err := o.write(&b); err != nil {
			t.Fatal(err)
		}
		got, err := read(strings.NewReader(b.String()))
		if err != nil {
			t.Fatalf("%q: %v", b.String(), err)
		}
		if d := cmp.Diff(o, got, cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%q: %s", b.String(), d)
		}
	}
}

func TestDamagedOrder(t *testing.T) {
	for _, c := range []struct {
		text string
		want error
	}{
		{"", io.EOF},
		{"3", io.EOF},
		{"x\n", errOrder},
		{"4\n1", io.ErrUnexpectedEOF},
		{"1\nx", errOrder},
		{"1\n2", errOrder},
		{"2\n-1", errOrder},
	} {
		if _, err := read(strings.NewReader(c.text)); err != c.want {
			t.Errorf("%q: %v, want %v", c.text, err, c.want)
		}
	}
}
