package stdlib

import (
	"crypto/hmac"
	"crypto/md5"
	"crypto/pbkdf2"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha3"
	"crypto/sha512"
	"crypto/subtle"
	"encoding"
	"encoding/hex"
	"fmt"
	"hash"
	"slices"
	"strings"

	"whittle/capture/python/vm"
)

// digests are the hash functions with a digest of one size, by their names in hashlib.
var digests = map[string]func() hash.Hash{
	"md5": md5.New, "sha1": sha1.New, "sha224": sha256.New224, "sha256": sha256.New, "sha384": sha512.New384, "sha512": sha512.New,
	"sha512_224": sha512.New512_224, "sha512_256": sha512.New512_256,
	"sha3_224": func() hash.Hash { return sha3.New224() }, "sha3_256": func() hash.Hash { return sha3.New256() },
	"sha3_384": func() hash.Hash { return sha3.New384() }, "sha3_512": func() hash.Hash { return sha3.New512() },
	"blake2b": func() hash.Hash { return newBlake2b(blakeParams{size: 64}) },
	"blake2s": func() hash.Hash { return newBlake2s(blakeParams{size: 32}) },
}

// shakes are the hash functions whose digest is as long as one asks for.
var shakes = map[string]func() *sha3.SHAKE{"shake_128": sha3.NewSHAKE128, "shake_256": sha3.NewSHAKE256}

// hashState is a hash that is being computed.
type hashState interface {
	hash.Hash
	clone() hashState
}

// fixedHash is a hashState of Go's own hash functions.
type fixedHash struct{ hash.Hash }

func (h fixedHash) clone() hashState {
	c, err := h.Hash.(hash.Cloner).Clone()
	if err != nil {
		panic("stdlib: a hash that cannot be copied: " + err.Error()) // all of the table can
	}
	return fixedHash{c}
}

// hashObject is an object of hashlib.
type hashObject struct {
	name  string
	state hashState   // nil for a shake
	shake *sha3.SHAKE // nil for any other
}

func (h *hashObject) clone() *hashObject {
	if h.shake == nil {
		return &hashObject{name: h.name, state: h.state.clone()}
	}
	b, err := h.shake.MarshalBinary()
	c := shakes[h.name]()
	if err == nil {
		err = encoding.BinaryUnmarshaler(c).UnmarshalBinary(b)
	}
	if err != nil {
		panic("stdlib: a hash that cannot be copied: " + err.Error()) // all of the table can
	}
	return &hashObject{name: h.name, shake: c}
}

func (h *hashObject) write(b []byte) {
	if h.shake != nil {
		h.shake.Write(b)
	} else {
		h.state.Write(b)
	}
}

// newHash begins a hash by name, or gives nil.
func newHash(name string) *hashObject {
	if f := digests[name]; f != nil {
		return &hashObject{name: name, state: fixedHash{f()}}
	}
	if f := shakes[name]; f != nil {
		return &hashObject{name: name, shake: f()}
	}
	return nil
}

// hashBytes reads what is to be hashed.
func hashBytes(in *vm.Interp, o vm.Object) ([]byte, error) {
	if _, isStr := vm.AsStr(o); isStr {
		return nil, in.Errorf(in.Exc.TypeError, "Strings must be encoded before hashing")
	}
	b, ok := vm.AsBytes(o)
	if !ok {
		return nil, in.Errorf(in.Exc.TypeError, "object supporting the buffer API required")
	}
	return b, nil
}

// hashClass makes a class of hash objects. The digest methods of one whose digests may have any length take that length.
func hashClass(in *vm.Interp, module, name string, xof bool) *vm.Type {
	state := func(o vm.Object) *hashObject { return o.(*vm.Instance).Native.(*hashObject) }
	digest := func(method string, wrap func([]byte) vm.Object) vm.GoFunc {
		params := vm.NewParams(method, "length")
		return func(in *vm.Interp, a []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			h := state(a[0])
			if !xof {
				if len(a) > 1 || len(kw) > 0 {
					return nil, in.Errorf(in.Exc.TypeError, "%s.%s() takes no arguments (%d given)", name, method, len(a)+len(kw)-1)
				}
				return wrap(h.state.Sum(nil)), nil
			}
			b, err := params.Bind(in, a[1:], kw)
			if err != nil {
				return nil, err
			}
			n, err := in.Index(b[0])
			if err != nil {
				return nil, err
			}
			if n < 0 || n >= 1<<29 {
				return nil, in.Errorf(in.Exc.ValueError, "value must be positive")
			}
			out := make([]byte, n)
			h.clone().shake.Read(out)
			return wrap(out), nil
		}
	}
	number := func(name string, f func(h *hashObject) int) *vm.GetSet {
		return &vm.GetSet{Name: name, Get: func(_ *vm.Interp, self vm.Object) (vm.Object, error) { return vm.MakeInt(int64(f(state(self)))), nil }}
	}
	var t *vm.Type
	t = in.NewNativeType(vm.Spec{Strict: true, Name: name, Module: module, NoDict: true,
		New: func(in *vm.Interp, cls *vm.Type, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return nil, in.Errorf(in.Exc.TypeError, "cannot create '%s' instances", cls.FullName())
		},
		Methods: map[string]vm.GoFunc{
			"update": func(in *vm.Interp, a []vm.Object, kw []vm.KwArg) (vm.Object, error) {
				if len(a) != 2 || len(kw) > 0 {
					return nil, in.Errorf(in.Exc.TypeError, "%s.update() takes exactly one argument (%d given)", name, len(a)-1)
				}
				b, err := hashBytes(in, a[1])
				if err == nil {
					state(a[0]).write(b)
				}
				return vm.None, err
			},
			"digest":    digest("digest", func(b []byte) vm.Object { return vm.Bytes(b) }),
			"hexdigest": digest("hexdigest", func(b []byte) vm.Object { return vm.Str(hex.EncodeToString(b)) }),
			"copy": func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				return vm.NewInstance(t, state(a[0]).clone()), nil
			},
			"__repr__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				return vm.Str(fmt.Sprintf("<%s %s object @ 0x%x>", state(a[0]).name, t.FullName(), in.ID(a[0]))), nil
			}},
		GetSet: []*vm.GetSet{
			{Name: "name", Get: func(_ *vm.Interp, self vm.Object) (vm.Object, error) { return vm.Str(state(self).name), nil }},
			number("digest_size", func(h *hashObject) int {
				if h.shake != nil {
					return 0
				}
				return h.state.Size()
			}),
			number("block_size", func(h *hashObject) int {
				if h.shake != nil {
					return h.shake.BlockSize()
				}
				return h.state.BlockSize()
			}),
		}})
	return t
}

// hashlibModule is _hashlib, which CPython makes of OpenSSL.
func hashlibModule(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("_hashlib", "OpenSSL interface for hashlib module")
	fixed, xof := hashClass(in, "_hashlib", "HASH", false), hashClass(in, "_hashlib", "HASHXOF", true)
	m.Set("HASH", fixed)
	m.Set("HASHXOF", xof)
	unsupported, err := in.MakeClass(vm.TypeType, "UnsupportedDigestmodError", []*vm.Type{in.Exc.ValueError}, vm.StrDict("__module__", vm.Str("_hashlib")))
	if err != nil {
		return nil, err
	}
	m.Set("UnsupportedDigestmodError", unsupported)
	begin := func(in *vm.Interp, name string, data vm.Object) (vm.Object, error) {
		h := newHash(name)
		if h == nil {
			return nil, in.Errorf(unsupported, "unsupported hash type %s", name)
		}
		if data != nil {
			b, err := hashBytes(in, data)
			if err != nil {
				return nil, err
			}
			h.write(b)
		}
		if h.shake != nil {
			return vm.NewInstance(xof, h), nil
		}
		return vm.NewInstance(fixed, h), nil
	}
	names := vm.NewSet()
	for _, name := range hashNames() {
		if err := names.Add(in, vm.Str(name)); err != nil {
			return nil, err
		}
		if strings.HasPrefix(name, "blake2") || strings.HasPrefix(name, "sha512_") {
			continue
		}
		params := vm.NewParams("openssl_"+name, "string=nil, *, usedforsecurity=True")
		m.Func("openssl_"+name, func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			a, err := params.Bind(in, args, kw)
			if err != nil {
				return nil, err
			}
			return begin(in, name, a[0])
		})
	}
	all, err := in.Call(vm.FrozenSetType, []vm.Object{names}, nil)
	if err != nil {
		return nil, err
	}
	m.Set("openssl_md_meth_names", all)
	params := vm.NewParams("new", "name, string=nil, *, usedforsecurity=True")
	m.Func("new", func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		a, err := params.Bind(in, args, kw)
		if err != nil {
			return nil, err
		}
		name, ok := vm.AsStr(a[0])
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "name must be a string")
		}
		return begin(in, strings.ReplaceAll(strings.ToLower(name), "-", "_"), a[1])
	})
	m.FuncN("get_fips_mode", 0, 0, func(*vm.Interp, []vm.Object) (vm.Object, error) { return vm.MakeInt(0), nil })
	m.FuncN("compare_digest", 2, 2, compareDigest)
	addHMAC(in, m, unsupported)
	return m, nil
}

// hashNames are the names of all hash functions, in order.
func hashNames() []string {
	var out []string
	for n := range digests {
		out = append(out, n)
	}
	for n := range shakes {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

// compareDigest takes the same time wherever the two differ.
func compareDigest(in *vm.Interp, a []vm.Object) (vm.Object, error) {
	x, xs := vm.AsStr(a[0])
	y, ys := vm.AsStr(a[1])
	if xs && ys {
		for i := range x + y {
			if (x + y)[i] >= 0x80 {
				return nil, in.Errorf(in.Exc.TypeError, "comparing strings with non-ASCII characters is not supported")
			}
		}
		return vm.MakeBool(subtle.ConstantTimeCompare([]byte(x), []byte(y)) == 1), nil
	}
	p, pok := vm.AsBytes(a[0])
	q, qok := vm.AsBytes(a[1])
	if !pok || !qok {
		return nil, in.Errorf(in.Exc.TypeError, "unsupported operand types(s) or combination of types: '%s' and '%s'", vm.TypeName(a[0]), vm.TypeName(a[1]))
	}
	return vm.MakeBool(subtle.ConstantTimeCompare(p, q) == 1), nil
}

// digestOf finds the hash function that an argument names: by a name, or as one of the functions of hashlib.
func digestOf(in *vm.Interp, o vm.Object, unsupported *vm.Type) (string, func() hash.Hash, error) {
	name, ok := vm.AsStr(o)
	if !ok {
		if b, isFn := o.(*vm.Builtin); isFn {
			name = strings.TrimPrefix(b.Name, "openssl_")
		}
	}
	f := digests[strings.ToLower(name)]
	if f == nil {
		return "", nil, in.Errorf(unsupported, "Unsupported digestmod %s", name)
	}
	return strings.ToLower(name), f, nil
}

// addHMAC adds what _hashlib has for keys and passwords.
func addHMAC(in *vm.Interp, m *vm.Module, unsupported *vm.Type) {
	cls := hashClass(in, "_hashlib", "HMAC", false)
	m.Set("HMAC", cls)
	read := func(in *vm.Interp, o vm.Object) ([]byte, error) {
		b, ok := vm.AsBytes(o)
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "a bytes-like object is required, not '%s'", vm.TypeName(o))
		}
		return b, nil
	}
	params := vm.NewParams("hmac_new", "key, msg=None, digestmod=nil")
	m.Func("hmac_new", func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		a, err := params.Bind(in, args, kw)
		if err != nil {
			return nil, err
		}
		if a[2] == nil {
			return nil, in.Errorf(in.Exc.TypeError, "Missing required parameter 'digestmod'.")
		}
		name, f, err := digestOf(in, a[2], unsupported)
		if err != nil {
			return nil, err
		}
		key, err := read(in, a[0])
		if err != nil {
			return nil, err
		}
		h := &hashObject{name: "hmac-" + name, state: fixedHash{hmac.New(f, slices.Clone(key))}}
		if a[1] != vm.None {
			msg, err := hashBytes(in, a[1])
			if err != nil {
				return nil, err
			}
			h.write(msg)
		}
		return vm.NewInstance(cls, h), nil
	})
	m.FuncN("hmac_digest", 3, 3, func(in *vm.Interp, a []vm.Object) (vm.Object, error) {
		_, f, err := digestOf(in, a[2], unsupported)
		if err != nil {
			return nil, err
		}
		key, err := read(in, a[0])
		if err != nil {
			return nil, err
		}
		msg, err := read(in, a[1])
		if err != nil {
			return nil, err
		}
		h := hmac.New(f, key)
		h.Write(msg)
		return vm.Bytes(h.Sum(nil)), nil
	})
	kdf := vm.NewParams("pbkdf2_hmac", "hash_name, password, salt, iterations, dklen=None")
	m.Func("pbkdf2_hmac", func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		a, err := kdf.Bind(in, args, kw)
		if err != nil {
			return nil, err
		}
		_, f, err := digestOf(in, a[0], unsupported)
		if err != nil {
			return nil, err
		}
		password, err := read(in, a[1])
		if err != nil {
			return nil, err
		}
		salt, err := read(in, a[2])
		if err != nil {
			return nil, err
		}
		rounds, err := in.Index(a[3])
		if err != nil {
			return nil, err
		}
		if rounds < 1 {
			return nil, in.Errorf(in.Exc.ValueError, "iteration value must be greater than 0.")
		}
		n := int64(f().Size())
		if a[4] != vm.None {
			if n, err = in.Index(a[4]); err != nil {
				return nil, err
			}
			if n < 1 {
				return nil, in.Errorf(in.Exc.ValueError, "key length must be greater than 0.")
			}
		}
		key, err := pbkdf2.Key(f, string(password), salt, int(rounds), int(n))
		if err != nil {
			return nil, in.Errorf(in.Exc.ValueError, "%s", err)
		}
		return vm.Bytes(key), nil
	})
}

// digestModule makes one of the modules _md5, _sha1 and so on, which hashlib falls back on: a function for each hash.
func digestModule(module string, names ...string) func(in *vm.Interp) (*vm.Module, error) {
	return func(in *vm.Interp) (*vm.Module, error) {
		m := in.NewModule(module, "")
		for _, name := range names {
			_, xof := shakes[name]
			cls := hashClass(in, module, name, xof)
			params := vm.NewParams(name, "string=nil, *, usedforsecurity=True")
			m.Func(name, func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
				a, err := params.Bind(in, args, kw)
				if err != nil {
					return nil, err
				}
				h := newHash(name)
				if a[0] != nil {
					b, err := hashBytes(in, a[0])
					if err != nil {
						return nil, err
					}
					h.write(b)
				}
				return vm.NewInstance(cls, h), nil
			})
		}
		return m, nil
	}
}
