package pymmap

import (
	"golang.org/x/sys/unix"

	"whittle/capture/python/vm"
)

var constants = map[string]int{"PROT_EXEC": unix.PROT_EXEC, "PROT_READ": unix.PROT_READ, "PROT_WRITE": unix.PROT_WRITE, "MAP_SHARED": unix.MAP_SHARED, "MAP_PRIVATE": unix.MAP_PRIVATE,
	"MAP_DENYWRITE": unix.MAP_DENYWRITE, "MAP_EXECUTABLE": unix.MAP_EXECUTABLE, "MAP_ANON": unix.MAP_ANON, "MAP_ANONYMOUS": unix.MAP_ANONYMOUS, "MAP_POPULATE": unix.MAP_POPULATE,
	"MAP_STACK": unix.MAP_STACK, "PAGESIZE": pageSize, "ALLOCATIONGRANULARITY": pageSize, "ACCESS_DEFAULT": accessDefault, "ACCESS_READ": accessRead, "ACCESS_WRITE": accessWrite,
	"ACCESS_COPY": accessCopy, "MADV_NORMAL": unix.MADV_NORMAL, "MADV_RANDOM": unix.MADV_RANDOM, "MADV_SEQUENTIAL": unix.MADV_SEQUENTIAL, "MADV_WILLNEED": unix.MADV_WILLNEED,
	"MADV_DONTNEED": unix.MADV_DONTNEED, "MADV_REMOVE": unix.MADV_REMOVE, "MADV_DONTFORK": unix.MADV_DONTFORK, "MADV_DOFORK": unix.MADV_DOFORK, "MADV_HWPOISON": unix.MADV_HWPOISON,
	"MADV_MERGEABLE": unix.MADV_MERGEABLE, "MADV_UNMERGEABLE": unix.MADV_UNMERGEABLE, "MADV_HUGEPAGE": unix.MADV_HUGEPAGE, "MADV_NOHUGEPAGE": unix.MADV_NOHUGEPAGE,
	"MADV_DONTDUMP": unix.MADV_DONTDUMP, "MADV_DODUMP": unix.MADV_DODUMP}

// Module makes mmap.
func Module(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("mmap", "")
	for n, v := range constants {
		m.Set(n, vm.MakeInt(int64(v)))
	}
	m.Set("error", in.Exc.OSError)
	m.Set("mmap", in.NewNativeType(vm.Spec{Name: "mmap", Module: "mmap", NoDict: true, Strict: true, New: newMapping, Methods: methods(iterator(in)),
		GetSet: []*vm.GetSet{{Name: "closed", Get: func(_ *vm.Interp, o vm.Object) (vm.Object, error) { return vm.MakeBool(of(o).data == nil), nil }}}}))
	return m, nil
}

var params = vm.NewParams("mmap", "fileno, length, flags=nil, prot=nil, access=0, offset=0")

// newMapping is mmap.mmap.
func newMapping(in *vm.Interp, cls *vm.Type, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
	if len(args)+len(kw) == 0 {
		return nil, in.Errorf(in.Exc.TypeError, "function missing required argument 'fileno' (pos 1)")
	}
	a, err := params.Bind(in, args, kw)
	if err != nil {
		return nil, err
	}
	n := [6]int64{2: unix.MAP_SHARED, 3: unix.PROT_READ | unix.PROT_WRITE}
	for i, o := range a {
		if o != nil {
			if n[i], err = in.Index(o); err != nil {
				return nil, err
			}
		}
	}
	fd, length, flags, prot, access, offset := int(n[0]), n[1], int(n[2]), int(n[3]), int(n[4]), n[5]
	switch {
	case length < 0:
		return nil, in.Errorf(in.Exc.OverflowError, "memory mapped length must be positive")
	case offset < 0:
		return nil, in.Errorf(in.Exc.OverflowError, "memory mapped offset must be positive")
	case access != accessDefault && (a[2] != nil || a[3] != nil):
		return nil, in.Errorf(in.Exc.ValueError, "mmap can't specify both access and flags, prot.")
	}
	switch access {
	case accessRead:
		flags, prot = unix.MAP_SHARED, unix.PROT_READ
	case accessWrite:
		flags, prot = unix.MAP_SHARED, unix.PROT_READ|unix.PROT_WRITE
	case accessCopy:
		flags, prot = unix.MAP_PRIVATE, unix.PROT_READ|unix.PROT_WRITE
	case accessDefault:
		if prot&unix.PROT_WRITE == 0 {
			access = accessRead
		}
	default:
		return nil, in.Errorf(in.Exc.ValueError, "mmap invalid access parameter.")
	}
	if fd >= 0 {
		if length, err = fit(in, fd, length, offset); err != nil {
			return nil, err
		}
	}
	m := &mapping{fd: -1, offset: offset, access: access}
	if fd == -1 {
		flags |= unix.MAP_ANON
	} else if m.fd, err = unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0); err != nil {
		return nil, vm.NewOSError(in, err)
	}
	if m.data, err = unix.Mmap(m.fd, offset, int(length), prot, flags); err != nil {
		if m.fd >= 0 {
			_ = unix.Close(m.fd)
		}
		return nil, vm.NewOSError(in, err)
	}
	m.self = vm.NewInstance(cls, m)
	return m.self, nil
}

// fit is a length that a file has; 0 asks for all of it.
func fit(in *vm.Interp, fd int, length, offset int64) (int64, error) {
	var s unix.Stat_t
	if err := unix.Fstat(fd, &s); err != nil {
		return 0, vm.NewOSError(in, err)
	}
	if s.Mode&unix.S_IFMT != unix.S_IFREG {
		return length, nil
	}
	switch {
	case length == 0 && s.Size == 0:
		return 0, in.Errorf(in.Exc.ValueError, "cannot mmap an empty file")
	case length == 0 && offset >= s.Size:
		return 0, in.Errorf(in.Exc.ValueError, "mmap offset is greater than file size")
	case length == 0:
		return s.Size - offset, nil
	case offset > s.Size || s.Size-offset < length:
		return 0, in.Errorf(in.Exc.ValueError, "mmap length is greater than file size")
	}
	return length, nil
}
