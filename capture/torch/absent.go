package torch

import (
	_ "embed"
	"fmt"
	"strings"

	"golang.org/x/tools/txtar"

	"whittle/capture/python/vm"
)

// A program that reaches into PyTorch's private modules is told what is not here where it uses it, not where it imports it: what it never
// uses does not matter. absent.txtar, which tools/absentnames makes, has a source file for each module that is not here; its file "in" lists
// the names that modules lack which are here.

//go:embed absent.txtar
var absentArchive []byte

// declareAbsent lets the program import what the archive lists.
func (t *Torch) declareAbsent() {
	a := txtar.Parse(absentArchive)
	files, err := txtar.FS(a)
	if err != nil {
		panic(fmt.Sprintf("embedded sources: %v", err)) // a broken build
	}
	t.In.AddSourceFS(files, "")
	names := map[string]string{}
	for _, f := range a.Files {
		if f.Name == "in" {
			for line := range strings.Lines(string(f.Data)) {
				module, list, _ := strings.Cut(line, " ")
				names[module] = list
			}
		}
	}
	t.In.Loading = func(m *vm.Module, module string) {
		list := names[module]
		if list == "" {
			return
		}
		var supply vm.Object // made when the first name is asked for
		m.GetAttrHook = func(in *vm.Interp, name string) (vm.Object, bool, error) {
			if !strings.Contains(list, name) {
				return nil, false, nil
			}
			if supply == nil {
				var err error
				if supply, err = t.callIn("torch._absent", "_Names", m, vm.Str(list)); err != nil {
					return nil, false, err
				}
			}
			v, err := in.CallMethod(supply, "find", vm.Str(name))
			if err != nil || v == vm.None {
				return nil, false, err
			}
			return v, true, nil
		}
	}
}
