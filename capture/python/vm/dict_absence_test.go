package vm

import "testing"

func TestLacks(t *testing.T) {
	var before Absence
	d := NewDict()
	d.SetStr("a", None)
	for _, step := range []struct {
		do   func()
		want bool
	}{
		{func() {}, true},
		{func() {}, true},
		{func() { d.SetStr("b", None) }, true},
		{func() { d.SetStr("x", None) }, false},
		{func() { d.DelStr("x") }, true},
		{func() { d = NewDict(); d.SetStr("x", None) }, false},
	} {
		if step.do(); d.Lacks("x", &before) != step.want {
			t.Errorf("%v", step.want)
		}
	}
}
