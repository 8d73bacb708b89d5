package ndarray

import "unsafe"

// one is a loop of functions of one argument.
func one[A, R any](f func(A) R) Loop {
	return func(n int, p []unsafe.Pointer, s []int) {
		for i := range n {
			*at[R](p[1], s[1], i) = f(*at[A](p[0], s[0], i))
		}
	}
}

// two is a loop of functions of two arguments.
func two[A, B, R any](f func(A, B) R) Loop {
	return func(n int, p []unsafe.Pointer, s []int) {
		for i := range n {
			*at[R](p[2], s[2], i) = f(*at[A](p[0], s[0], i), *at[B](p[1], s[1], i))
		}
	}
}

// split is a loop of functions of one argument with two results.
func split[A, R, Q any](f func(A) (R, Q)) Loop {
	return func(n int, p []unsafe.Pointer, s []int) {
		for i := range n {
			*at[R](p[1], s[1], i), *at[Q](p[2], s[2], i) = f(*at[A](p[0], s[0], i))
		}
	}
}

// reduces says that a loop of two arguments folds its second one into one place.
func reduces(p []unsafe.Pointer, s []int) bool { return s[0] == 0 && s[2] == 0 && p[0] == p[2] }

// A vector has an operation in the forms that are worth a loop of their own: on runs without gaps, with a scalar on either side, and else.
type vector[T, R any] struct {
	both  func(a, b []T, o []R)
	right func(a []T, b T, o []R)
	left  func(a T, b []T, o []R)
	each  func(a, b T) R
}

func (v vector[T, R]) loop(n int, p []unsafe.Pointer, s []int) {
	z, zr := int(unsafe.Sizeof(*new(T))), int(unsafe.Sizeof(*new(R)))
	if s[2] == zr && n > 1 {
		o := unsafe.Slice((*R)(p[2]), n)
		switch {
		case s[0] == z && s[1] == z:
			v.both(unsafe.Slice((*T)(p[0]), n), unsafe.Slice((*T)(p[1]), n), o)
			return
		case s[0] == z && s[1] == 0:
			v.right(unsafe.Slice((*T)(p[0]), n), *(*T)(p[1]), o)
			return
		case s[0] == 0 && s[1] == z:
			v.left(*(*T)(p[0]), unsafe.Slice((*T)(p[1]), n), o)
			return
		}
	}
	for i := range n {
		*at[R](p[2], s[2], i) = v.each(*at[T](p[0], s[0], i), *at[T](p[1], s[1], i))
	}
}

func addVector[T number | complexes]() vector[T, T] {
	return vector[T, T]{
		func(a, b, o []T) {
			a, b = a[:len(o)], b[:len(o)]
			for i := range o {
				o[i] = a[i] + b[i]
			}
		},
		func(a []T, b T, o []T) {
			a = a[:len(o)]
			for i := range o {
				o[i] = a[i] + b
			}
		},
		func(a T, b, o []T) {
			b = b[:len(o)]
			for i := range o {
				o[i] = a + b[i]
			}
		},
		func(a, b T) T { return a + b },
	}
}

func subVector[T number | complexes]() vector[T, T] {
	return vector[T, T]{
		func(a, b, o []T) {
			a, b = a[:len(o)], b[:len(o)]
			for i := range o {
				o[i] = a[i] - b[i]
			}
		},
		func(a []T, b T, o []T) {
			a = a[:len(o)]
			for i := range o {
				o[i] = a[i] - b
			}
		},
		func(a T, b, o []T) {
			b = b[:len(o)]
			for i := range o {
				o[i] = a - b[i]
			}
		},
		func(a, b T) T { return a - b },
	}
}

func mulVector[T number | complexes]() vector[T, T] {
	return vector[T, T]{
		func(a, b, o []T) {
			a, b = a[:len(o)], b[:len(o)]
			for i := range o {
				o[i] = a[i] * b[i]
			}
		},
		func(a []T, b T, o []T) {
			a = a[:len(o)]
			for i := range o {
				o[i] = a[i] * b
			}
		},
		func(a T, b, o []T) {
			b = b[:len(o)]
			for i := range o {
				o[i] = a * b[i]
			}
		},
		func(a, b T) T { return a * b },
	}
}

func divVector[T float32 | float64]() vector[T, T] {
	return vector[T, T]{
		func(a, b, o []T) {
			a, b = a[:len(o)], b[:len(o)]
			for i := range o {
				o[i] = a[i] / b[i]
			}
		},
		func(a []T, b T, o []T) {
			a = a[:len(o)]
			for i := range o {
				o[i] = a[i] / b
			}
		},
		func(a T, b, o []T) {
			b = b[:len(o)]
			for i := range o {
				o[i] = a / b[i]
			}
		},
		func(a, b T) T { return a / b },
	}
}

func lessVector[T number]() vector[T, b8] {
	return vector[T, b8]{
		func(a, b []T, o []b8) {
			a, b = a[:len(o)], b[:len(o)]
			for i := range o {
				o[i] = boolean(a[i] < b[i])
			}
		},
		func(a []T, b T, o []b8) {
			a = a[:len(o)]
			for i := range o {
				o[i] = boolean(a[i] < b)
			}
		},
		func(a T, b []T, o []b8) {
			b = b[:len(o)]
			for i := range o {
				o[i] = boolean(a < b[i])
			}
		},
		func(a, b T) b8 { return boolean(a < b) },
	}
}

func lessEqualVector[T number]() vector[T, b8] {
	return vector[T, b8]{
		func(a, b []T, o []b8) {
			a, b = a[:len(o)], b[:len(o)]
			for i := range o {
				o[i] = boolean(a[i] <= b[i])
			}
		},
		func(a []T, b T, o []b8) {
			a = a[:len(o)]
			for i := range o {
				o[i] = boolean(a[i] <= b)
			}
		},
		func(a T, b []T, o []b8) {
			b = b[:len(o)]
			for i := range o {
				o[i] = boolean(a <= b[i])
			}
		},
		func(a, b T) b8 { return boolean(a <= b) },
	}
}

func equalVector[T number | complexes | b8](want bool) vector[T, b8] {
	return vector[T, b8]{
		func(a, b []T, o []b8) {
			a, b = a[:len(o)], b[:len(o)]
			for i := range o {
				o[i] = boolean((a[i] == b[i]) == want)
			}
		},
		func(a []T, b T, o []b8) {
			a = a[:len(o)]
			for i := range o {
				o[i] = boolean((a[i] == b) == want)
			}
		},
		func(a T, b []T, o []b8) {
			b = b[:len(o)]
			for i := range o {
				o[i] = boolean((a == b[i]) == want)
			}
		},
		func(a, b T) b8 { return boolean((a == b) == want) },
	}
}

// swap exchanges the operands of a loop.
func swap(l Loop) Loop {
	return func(n int, p []unsafe.Pointer, s []int) {
		l(n, []unsafe.Pointer{p[1], p[0], p[2]}, []int{s[1], s[0], s[2]})
	}
}

// pairwise adds up n numbers as NumPy does, in blocks whose sums are added in pairs.
func pairwise[T float32 | float64](p unsafe.Pointer, n, s int) T {
	switch {
	case n < 8:
		var res T
		res = -res
		for i := range n {
			res += *at[T](p, s, i)
		}
		return res
	case n <= 128:
		var r [8]T
		for k := range r {
			r[k] = *at[T](p, s, k)
		}
		i := 8
		for ; i < n-n%8; i += 8 {
			for k := range r {
				r[k] += *at[T](p, s, i+k)
			}
		}
		res := ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]))
		for ; i < n; i++ {
			res += *at[T](p, s, i)
		}
		return res
	}
	half := n / 2
	half -= half % 8
	return pairwise[T](p, half, s) + pairwise[T](unsafe.Add(p, half*s), n-half, s)
}

func pairwiseComplex[C complex64 | complex128](p unsafe.Pointer, n, s int) C {
	switch {
	case n < 4:
		var res C
		for i := range n {
			res += *at[C](p, s, i)
		}
		return res
	case n <= 64:
		var r [4]C
		for k := range r {
			r[k] = *at[C](p, s, k)
		}
		i := 4
		for ; i < n-n%4; i += 4 {
			for k := range r {
				r[k] += *at[C](p, s, i+k)
			}
		}
		res := (r[0] + r[1]) + (r[2] + r[3])
		for ; i < n; i++ {
			res += *at[C](p, s, i)
		}
		return res
	}
	half := n / 2
	half -= half % 4
	return pairwiseComplex[C](p, half, s) + pairwiseComplex[C](unsafe.Add(p, half*s), n-half, s)
}

// halfSum is pairwise in float32 over float16.
func halfSum(p unsafe.Pointer, n, s int) float32 {
	switch {
	case n < 8:
		var res float32
		for i := range n {
			res += at[f16](p, s, i).f32()
		}
		return res
	case n <= 128:
		var r [8]float32
		for k := range r {
			r[k] = at[f16](p, s, k).f32()
		}
		i := 8
		for ; i < n-n%8; i += 8 {
			for k := range r {
				r[k] += at[f16](p, s, i+k).f32()
			}
		}
		res := ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]))
		for ; i < n; i++ {
			res += at[f16](p, s, i).f32()
		}
		return res
	}
	half := n / 2
	half -= half % 8
	return halfSum(p, half, s) + halfSum(unsafe.Add(p, half*s), n-half, s)
}

// adding is a loop that adds, with sums of its own kind.
func adding[T any](l Loop, sum func(p unsafe.Pointer, n, s int, into *T)) Loop {
	return func(n int, p []unsafe.Pointer, s []int) {
		if reduces(p, s) {
			sum(p[1], n, s[1], (*T)(p[0]))
			return
		}
		l(n, p, s)
	}
}

// folding is a loop of two arguments that keeps what it folds into in a register.
func folding[T any](l Loop, f func(a, b T) T) Loop {
	return func(n int, p []unsafe.Pointer, s []int) {
		if !reduces(p, s) {
			l(n, p, s)
			return
		}
		acc := *(*T)(p[0])
		for i := range n {
			acc = f(acc, *at[T](p[1], s[1], i))
		}
		*(*T)(p[0]) = acc
	}
}

// constant is a loop that gives one truth.
func constant(v bool) Loop {
	return func(n int, p []unsafe.Pointer, s []int) {
		for i := range n {
			*at[b8](p[1], s[1], i) = boolean(v)
		}
	}
}
