package pymulti

import (
	"strings"

	"golang.org/x/sys/unix"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// Modules are the modules that multiprocessing imports.
var Modules = map[string]func(in *vm.Interp) (*vm.Module, error){"_multiprocessing": semaphores, "_posixshmem": sharedMemory}

func semaphores(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("_multiprocessing", "")
	m.Set("SemLock", semLockType(in))
	flags := vm.NewDict()
	for _, f := range []string{"HAVE_SEM_OPEN", "HAVE_SEM_TIMEDWAIT"} {
		flags.SetStr(f, vm.Int(1))
	}
	m.Set("flags", flags)
	clinic.Def(m, "sem_unlink", "name:str, /", func(c *clinic.Call) (vm.Object, error) { return c.Do(unlinkSemaphore(c.Str(0))) })
	return m, nil
}

// shmFile is the file of a name of shared memory.
func shmFile(name string) (string, error) {
	name = strings.TrimLeft(name, "/")
	if name == "" || strings.ContainsAny(name, "/\x00") {
		return "", unix.EINVAL
	}
	return "/dev/shm/" + name, nil
}

func sharedMemory(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("_posixshmem", "POSIX shared memory module")
	clinic.Def(m, "shm_open", "path:str, flags:int, mode:int=511", func(c *clinic.Call) (vm.Object, error) {
		p, err := shmFile(c.Str(0))
		fd := -1
		if err == nil {
			fd, err = unix.Open(p, int(c.Int(1))|unix.O_CLOEXEC|unix.O_NOFOLLOW, uint32(c.Int(2)))
		}
		if err != nil {
			return nil, c.OSErr(err, 0)
		}
		return vm.MakeInt(int64(fd)), nil
	})
	clinic.Def(m, "shm_unlink", "path:str", func(c *clinic.Call) (vm.Object, error) {
		p, err := shmFile(c.Str(0))
		if err == nil {
			err = unix.Unlink(p)
		}
		return c.Do(err, 0)
	})
	return m, nil
}
