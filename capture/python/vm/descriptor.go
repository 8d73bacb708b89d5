package vm

import (
	"golang.org/x/sys/unix"
)

// pipeBuf is what a pipe takes at once where poll says that it takes anything: PIPE_BUF.
const pipeBuf = 4096

// ReadFD reads from a descriptor once. While the program would have to wait other threads run, and so do handlers of signals that arrive, as
// read(2) is repeated after them (PEP 475): an error that is a *Raised is a handler's.
func (in *Interp) ReadFD(fd int, p []byte) (n int, err error) {
	return in.transfer(fd, unix.POLLIN, in.Poll, func() (int, error) { return unix.Read(fd, p) })
}

// WriteFD writes to a descriptor, as much as it takes before a signal arrives: a handler runs at once where nothing was written, and else
// after WriteFD has returned. Otherwise it is as ReadFD.
func (in *Interp) WriteFD(fd int, p []byte) (int, error) {
	if len(p) <= pipeBuf || !mayWait(fd) {
		return in.transfer(fd, unix.POLLOUT, in.Poll, func() (int, error) { return unix.Write(fd, p) })
	}
	n, err := in.transfer(fd, unix.POLLOUT, in.Poll, func() (int, error) { return unix.Write(fd, p[:pipeBuf]) })
	for err == nil && n < len(p) {
		part := p[n:min(len(p), n+pipeBuf)]
		more, failed := in.transfer(fd, unix.POLLOUT, in.unstopped, func() (int, error) { return unix.Write(fd, part) })
		if failed != nil {
			break // it comes again with the rest, or between two instructions
		}
		n += more
	}
	return n, err
}

// unstopped is an error where something is to be looked after before the next instruction.
func (in *Interp) unstopped() error {
	if in.stop.Load() {
		return unix.EINTR
	}
	return nil
}

// Transfer calls f, which moves data by a descriptor, when that is ready for the events of poll(2); as for ReadFD, others run meanwhile.
func (in *Interp) Transfer(fd int, events int16, f func() error) error {
	_, err := in.transfer(fd, events, in.Poll, func() (int, error) { return 0, f() })
	return err
}

// transfer calls f when the descriptor is ready. An error of poll, which it calls every now and then while it is not, ends that.
func (in *Interp) transfer(fd int, events int16, poll func() error, f func() (int, error)) (n int, err error) {
	if !ready(fd, events, 0) && waits(fd) {
		for {
			if err := poll(); err != nil {
				return 0, err
			}
			yes := false
			if err := in.Unlocked(func() error { yes = ready(fd, events, 50); return nil }); err != nil {
				return 0, err
			}
			if yes {
				break
			}
		}
	}
	for {
		err = in.Unlocked(func() (err error) { n, err = f(); return err })
		if err != unix.EINTR {
			return n, err
		}
		if err := poll(); err != nil {
			return 0, err
		}
	}
}

// ready reports whether a call would not wait, or fail, within so many milliseconds.
func ready(fd int, events int16, ms int) bool {
	fds := []unix.PollFd{{Fd: int32(fd), Events: events}}
	n, err := unix.Poll(fds, ms)
	return n > 0 || err != nil && err != unix.EINTR
}

// waits reports whether calls wait until a descriptor is ready.
func waits(fd int) bool {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	return err == nil && flags&unix.O_NONBLOCK == 0
}

// mayWait reports whether writing may have to wait for who reads.
func mayWait(fd int) bool {
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT == unix.S_IFREG {
		return false
	}
	return waits(fd)
}
