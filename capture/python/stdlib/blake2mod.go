package stdlib

import "whittle/capture/python/vm"

// blake2Module is _blake2: the constructors with all parameters of BLAKE2.
func blake2Module(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("_blake2", "_blake2b provides BLAKE2b for hashlib\n")
	for _, wide := range []bool{true, false} {
		name, w := "blake2s", 4
		if wide {
			name, w = "blake2b", 8
		}
		cls := hashClass(in, "_blake2", name, false)
		cls.New = newBlakeObject(name, wide)
		cls.Dict.SetStr("__new__", &vm.Builtin{Name: "__new__", Owner: cls, Max: -1, Fn: func(in *vm.Interp, a []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			if len(a) == 0 || a[0] != vm.Object(cls) {
				return nil, in.Errorf(in.Exc.TypeError, "%s.__new__() takes the type as its first argument", name)
			}
			return cls.New(in, cls, a[1:], kw)
		}})
		for k, v := range map[string]int{"SALT_SIZE": 2 * w, "PERSON_SIZE": 2 * w, "MAX_KEY_SIZE": 8 * w, "MAX_DIGEST_SIZE": 8 * w} {
			cls.Dict.SetStr(k, vm.MakeInt(int64(v)))
		}
		m.Set(name, cls)
	}
	return m, nil
}

// newBlakeObject is the constructor of blake2b or blake2s.
func newBlakeObject(name string, wide bool) vm.NewFunc {
	size := 32
	if wide {
		size = 64
	}
	params := vm.NewParams(name, "data=nil, /, *, digest_size=nil, key=nil, salt=nil, person=nil, fanout=1, depth=1, leaf_size=0, node_offset=0, node_depth=0, inner_size=0, last_node=False, usedforsecurity=True")
	return func(in *vm.Interp, cls *vm.Type, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		a, err := params.Bind(in, args, kw)
		if err != nil {
			return nil, err
		}
		p := blakeParams{size: size}
		fail := func(format string, args ...any) (vm.Object, error) {
			return nil, in.Errorf(in.Exc.ValueError, format, args...)
		}
		if a[1] != nil {
			n, err := in.Index(a[1])
			if err != nil {
				return nil, err
			}
			if n < 1 || n > int64(size) {
				return fail("digest_size must be between 1 and %d bytes", size)
			}
			p.size = int(n)
		}
		for i, part := range []struct {
			what string
			most int
			to   *[]byte
		}{{"key", size, &p.key}, {"salt", size / 4, &p.salt}, {"person", size / 4, &p.person}} {
			if a[2+i] == nil {
				continue
			}
			b, err := hashBytes(in, a[2+i])
			if err != nil {
				return nil, err
			}
			if len(b) > part.most {
				return fail("maximum %s length is %d bytes", part.what, part.most)
			}
			*part.to = append([]byte(nil), b...)
		}
		var n [6]int64
		for i, most := range []int64{255, 255, 1<<32 - 1, 1<<62 - 1, 255, int64(size)} {
			if n[i], err = in.Index(a[5+i]); err != nil {
				return nil, err
			}
			if n[i] < 0 || n[i] > most || i == 1 && n[i] == 0 {
				return fail("%s is out of range", []string{"fanout", "depth", "leaf_size", "node_offset", "node_depth", "inner_size"}[i])
			}
		}
		p.fanout, p.depth, p.leaf, p.node, p.nodeDepth, p.inner = byte(n[0]), byte(n[1]), uint32(n[2]), uint64(n[3]), byte(n[4]), byte(n[5])
		if p.lastNode, err = in.Truth(a[11]); err != nil {
			return nil, err
		}
		h := &hashObject{name: name, state: fixedHash{newBlake2(p, wide)}}
		if a[0] != nil {
			b, err := hashBytes(in, a[0])
			if err != nil {
				return nil, err
			}
			h.write(b)
		}
		return vm.NewInstance(cls, h), nil
	}
}
