package cjk

import "testing"

// FuzzDecode decodes anything in all encodings without a panic, and never stands still.
func FuzzDecode(f *testing.F) {
	f.Add([]byte("a\x1b$B\x24\x22\x1b(B~{0!~}\x81\x30\x81\x30\xa4\xd4"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, names := range groups {
			for _, name := range names {
				s := newScheme(name)
				st := s.start
				for rest := data; len(rest) > 0; {
					_, n, fault := s.decode(&st, rest)
					if fault == short {
						break
					}
					if n < 1 || n > len(rest) {
						t.Fatalf("%s: %d of %q", name, n, rest)
					}
					rest = rest[n:]
				}
			}
		}
	})
}
