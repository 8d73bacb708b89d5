package posix

import (
	"golang.org/x/sys/unix"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// kernelCopies are the functions that move bytes between files without this process, and files that lie in memory.
func (m *module) kernelCopies() {
	for name, v := range map[string]int{"SPLICE_F_MOVE": unix.SPLICE_F_MOVE, "SPLICE_F_NONBLOCK": unix.SPLICE_F_NONBLOCK, "SPLICE_F_MORE": unix.SPLICE_F_MORE,
		"MFD_CLOEXEC": unix.MFD_CLOEXEC, "MFD_ALLOW_SEALING": unix.MFD_ALLOW_SEALING, "MFD_HUGETLB": unix.MFD_HUGETLB} {
		m.Set(name, vm.MakeInt(int64(v)))
	}
	move := func(name, params string, f func(c *clinic.Call, from, to *int64) (int64, error)) {
		clinic.Def(m.Module, name, params, func(c *clinic.Call) (vm.Object, error) {
			if c.Int(2) < 0 {
				return nil, c.Errorf(c.Exc.ValueError, "negative value for 'count' not allowed")
			}
			var offsets [2]*int64
			for i := range offsets {
				if at := c.Int(3 + i); !c.None(3 + i) {
					offsets[i] = &at
				}
			}
			var n int64
			err := c.Unlocked(func() error {
				return again(func() (err error) { n, err = f(c, offsets[0], offsets[1]); return err })
			})
			if err != nil {
				return nil, c.OSErr(err)
			}
			return vm.MakeInt(n), nil
		})
	}
	move("copy_file_range", "src:int, dst:int, count:int, offset_src:int?=None, offset_dst:int?=None", func(c *clinic.Call, from, to *int64) (int64, error) {
		n, err := unix.CopyFileRange(int(c.Int(0)), from, int(c.Int(1)), to, int(c.Int(2)), 0)
		return int64(n), err
	})
	move("splice", "src:int, dst:int, count:int, offset_src:int?=None, offset_dst:int?=None, flags:int=0", func(c *clinic.Call, from, to *int64) (int64, error) {
		return unix.Splice(int(c.Int(0)), from, int(c.Int(1)), to, int(c.Int(2)), int(c.Int(5)))
	})
	clinic.Def(m.Module, "memfd_create", "name:path, flags:int=1", func(c *clinic.Call) (vm.Object, error) {
		fd, err := unix.MemfdCreate(c.Str(0), int(c.Int(1)))
		if err != nil {
			return nil, c.OSErr(err)
		}
		return vm.MakeInt(int64(fd)), nil
	})
}
