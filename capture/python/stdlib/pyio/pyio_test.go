package pyio

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNewlineMode shows where lines end.
func TestNewlineMode(t *testing.T) {
	for _, c := range []struct {
		mode newlineMode
		text string
		want int
	}{
		{newlineMode{universal: true, translate: true}, "a\rb\nc", 4},
		{newlineMode{universal: true}, "a\rb\n", 2},
		{newlineMode{universal: true}, "a\r\nb", 3},
		{newlineMode{read: "\r\n"}, "a\rb\r\n", 5},
		{newlineMode{read: "\n"}, "abc", 0},
	} {
		if got := c.mode.lineEnd(c.text); got != c.want {
			t.Errorf("%+v of %q: %d, not %d", c.mode, c.text, got, c.want)
		}
	}
}

// TestSkip holds that characters are counted, not bytes.
func TestSkip(t *testing.T) {
	got := [][2]int{}
	for _, n := range []int{0, 3, 9, 100} {
		off, k := skip("aé€12345678", n)
		got = append(got, [2]int{off, k})
	}
	if diff := cmp.Diff([][2]int{{0, 0}, {6, 3}, {12, 9}, {14, 11}}, got); diff != "" {
		t.Error(diff)
	}
}

// FuzzNewlineDecoder compares text that is decoded in two parts with the same text in one.
func FuzzNewlineDecoder(f *testing.F) {
	f.Add("a\r\nb\rc\n", 2, true)
	f.Fuzz(func(t *testing.T, text string, at int, translate bool) {
		at = max(0, min(at, len(text)))
		d := &newlineDecoder{translate: translate}
		got := d.text(text[:at], false) + d.text(text[at:], true)
		want := text
		if translate {
			want = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
		}
		if got != want {
			t.Errorf("%q at %d: %q, not %q", text, at, got, want)
		}
	})
}
