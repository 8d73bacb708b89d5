package minify

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSmallestSizesThatFit: all sizes 1 where the operators allow it, else for each what they want.
func TestSmallestSizesThatFit(t *testing.T) {
	pool := `def forward(self, x):
    y = torch.ops.aten.avg_pool2d.default(x, [2, 3])
    return (y,)
`
	add := `def forward(self, x, y):
    z = torch.ops.aten.add.Tensor(x, y)
    return (z,)
`
	for _, c := range []struct {
		name, text string
		inputs     []string
		want       []string
	}{
		{"a window", pool, []string{"f32[2, 4, 8, 9]"}, []string{"size 3 for x.3", "size 2 for x.2", "size 1 for x.1, x.0"}},
		{"a window that fits nothing smaller", pool, []string{"f32[1, 1, 2, 3]"}, nil},
		{"anything", add, []string{"f32[4, 6]", "f32[4, 6]"}, []string{"size 1 for x.1, x.0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDriver(&Search{Values: &EagerValues{}}, atenState(t, c.text, c.inputs...))
			if err := d.learn(ctx, values); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range d.smallest() {
				got = append(got, e.String())
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestWhatIsKnownOfFewCalls: the answer to a window of few calls is one to the edit that runs the same calls alone, and the other way around.
func TestWhatIsKnownOfFewCalls(t *testing.T) {
	us := [][]string{{"a"}, {"b"}, {"c"}}
	b, bAgain := alone("", 0.5, us, 1, 2), ask{edit: Alone{[]string{"b"}}, chance: 0.5}
	other, all := ask{edit: Alone{[]string{"c"}}, chance: 0.5}, alone("", 0.5, us, 0, 3)
	var none *past
	for _, c := range []struct {
		name string
		a    *ask
		seen *past
		want float64
	}{
		{"nothing", &bAgain, none, 0.5},
		{"the window passed", &bAgain, none.and(&b, false), unlikely},
		{"the window failed", &bAgain, none.and(&b, true), 1 - unlikely},
		{"the edit passed", &b, none.and(&bAgain, false), unlikely},
		{"another call passed", &bAgain, none.and(&other, false), 0.5},
		{"a larger window passed", &b, none.and(&all, false), unlikely},
		{"a part failed", &all, none.and(&b, true), 1 - unlikely},
		{"what is no window of it failed", &all, none.and(&other, true), 0.5},
	} {
		if got := c.a.expect(c.seen); got != c.want {
			t.Errorf("%s: %v, not %v", c.name, got, c.want)
		}
	}
}
