package tensor

import "testing"

// A blank storage is zero, whether its memory is new, was written before, or came back as it was given; and nobody who asks for zeros gets anything else.
func TestBlank(t *testing.T) {
	const n = 4 << 20
	zero := func(what string, s *Storage) {
		t.Helper()
		for i, b := range s.Data {
			if b != 0 {
				t.Fatalf("%s: byte %d is %d", what, i, b)
			}
		}
	}
	for round := range 2 * retry {
		dirty := NewStorageUnset(n)
		for i := range dirty.Data {
			dirty.Data[i] = 0xff
		}
		dirty.Recycle()
		if round%3 != 0 {
			NewStorageBlank(n).Recycle() // which nobody looks at
		}
		s := NewStorageBlank(int64(n - round*8))
		zero("blank", s)
		s.Data[round*64] = 1
		s.Data[len(s.Data)-1] = 1
		s.Recycle()
		s = NewStorage(n)
		zero("zeros", s)
		s.Recycle()
	}
}

// What was given without pages and comes back so is given again without a call of the system that takes pages away.
func TestUnused(t *testing.T) {
	buf := make([]byte, 1<<20)
	for i := range buf {
		buf[i] = 1
	}
	if unused(buf) {
		t.Error("memory that was written is not in use")
	}
	if !discard(buf) || !unused(buf) {
		t.Error("memory that was given back is in use")
	}
	if buf[1<<19] = 2; !unused(buf) || buf[1<<19] != 0 {
		t.Error("memory of which one page was written is not given back")
	}
	if buf[0] = 2; unused(buf) {
		t.Error("memory that is written from its beginning on is not in use")
	}
}
