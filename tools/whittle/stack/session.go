package stack

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"whittle/capture/python/vm"
	"whittle/kernels/tensor"
)

// RequiresGrad reports whether gradients flow to t.
func (s *Session) RequiresGrad(t *tensor.Tensor) bool { return s.grad.RequiresGrad(t) }

// IsLeaf reports whether t is no result of an operator that gradients flow through.
func (s *Session) IsLeaf(t *tensor.Tensor) bool { return s.grad.IsLeaf(t) }

// ReproConfig reads torch._dynamo.config: repro_level, repro_after, and where repros go (base_dir when a script set it).
func (s *Session) ReproConfig() (level int, after, dir string) {
	level = 2
	m, err := s.In.Import("torch._dynamo.config")
	if err != nil {
		return level, "", ""
	}
	if v, err := s.In.GetAttr(m, "repro_level"); err == nil {
		if n, ok := vm.AsInt(v); ok {
			level = int(n)
		}
	}
	if v, err := s.In.GetAttr(m, "repro_after"); err == nil {
		after, _ = vm.AsStr(v)
	}
	for _, c := range s.changed("torch._dynamo.config") {
		if c[0] == "torch._dynamo.config.base_dir" || c[0] == "torch._dynamo.config.debug_dir_root" {
			dir = strings.Trim(c[1], `'"`)
		}
	}
	return level, after, dir
}

// ChangedConfig lists the settings that differ from their defaults and can matter to a compilation, as name and Python text.
func (s *Session) ChangedConfig() [][2]string {
	var out [][2]string
	for _, m := range []string{"torch._inductor.config", "torch._inductor.config.cpp", "torch._functorch.config"} {
		out = append(out, s.changed(m)...)
	}
	return out
}

func (s *Session) changed(module string) [][2]string {
	path := strings.Split(module, ".config.")
	loaded, ok := s.In.Modules.GetStr(strings.TrimSuffix(path[0], ".config") + ".config")
	if !ok {
		return nil
	}
	o := loaded
	if len(path) > 1 {
		sub, err := s.In.GetAttr(o, path[1])
		if err != nil {
			return nil
		}
		o = sub
	}
	v, err := s.In.CallMethod(o, "changed")
	if err != nil {
		return nil
	}
	d, ok := vm.AsDict(v)
	if !ok {
		return nil
	}
	var out [][2]string
	d.Each(func(k, v vm.Object) bool {
		name, _ := vm.AsStr(k)
		if text, err := s.In.Repr(v); err == nil {
			out = append(out, [2]string{module + "." + name, text})
		}
		return true
	})
	sort.Slice(out, func(i, j int) bool { return out[i][0] < out[j][0] })
	return out
}

// TakeAccuracy says whether the failure under way is one of accuracy, and forgets it.
func (s *Session) TakeAccuracy() bool {
	a := s.lastAccuracy
	s.lastAccuracy = false
	return a
}

// DebugDir is this run's folder under torch._dynamo.config.debug_dir_root.
func (s *Session) DebugDir() (string, error) {
	if s.debugDir != "" {
		return s.debugDir, nil
	}
	m, err := s.In.Import("torch._dynamo.config")
	if err != nil {
		return "", err
	}
	v, err := s.In.GetAttr(m, "debug_dir_root")
	if err != nil {
		return "", err
	}
	root, _ := vm.AsStr(v)
	now := time.Now()
	s.debugDir = filepath.Join(root, fmt.Sprintf("run_%s_%06d-pid_%d", now.Format("2006_01_02_15_04_05"), now.Nanosecond()/1000, os.Getpid()))
	return s.debugDir, nil
}
