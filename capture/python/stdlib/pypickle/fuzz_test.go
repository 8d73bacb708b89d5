package pypickle_test

import (
	"io"
	"testing"

	"whittle/capture/python/stdlib"
	"whittle/capture/python/vm"
)

// FuzzLoads runs damaged pickles: whatever stands in one, it is an error of Python's at worst. Names are not looked up, as a pickle may call
// anything.
func FuzzLoads(f *testing.F) {
	for _, s := range []string{"N.", "(lp0\nI1\na.", "\x80\x04\x95\x05\x00\x00\x00\x00\x00\x00\x00]\x94K\x01a.", "(I1\nI2\nd.", "\x80\x05\x8f(K\x01\x90.", "J\xff\xff\xff\xff.", "\x8a\x01\xff."} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		in := vm.New()
		stdlib.Register(in)
		in.Stdout, in.Stderr = io.Discard, io.Discard
		m, err := in.Import("_pickle")
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range data {
			switch b {
			case 'c', 'i', 'o', 'R', 0x81, 0x82, 0x83, 0x84, 0x92, 0x93:
				return
			}
		}
		v, err := in.CallMethod(m, "loads", vm.Bytes(data))
		if err == nil && v == nil {
			t.Fatal("nothing was loaded, and no error raised")
		}
	})
}
