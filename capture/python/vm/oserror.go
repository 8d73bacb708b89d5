package vm

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// errnoClass is the class that an OSError of a number has: https://docs.python.org/3.11/library/exceptions.html#os-exceptions
func (x *ExcTypes) errnoClass(no syscall.Errno) *Type {
	switch no {
	case syscall.EAGAIN, syscall.EALREADY, syscall.EINPROGRESS:
		return x.BlockingIOError
	case syscall.ECHILD:
		return x.ChildProcessError
	case syscall.EPIPE, syscall.ESHUTDOWN:
		return x.BrokenPipeError
	case syscall.ECONNABORTED:
		return x.ConnectionAbortedError
	case syscall.ECONNREFUSED:
		return x.ConnectionRefusedError
	case syscall.ECONNRESET:
		return x.ConnectionResetError
	case syscall.EEXIST:
		return x.FileExistsError
	case syscall.ENOENT:
		return x.FileNotFoundError
	case syscall.EINTR:
		return x.InterruptedError
	case syscall.EISDIR:
		return x.IsADirectoryError
	case syscall.ENOTDIR:
		return x.NotADirectoryError
	case syscall.EACCES, syscall.EPERM:
		return x.PermissionError
	case syscall.ESRCH:
		return x.ProcessLookupError
	case syscall.ETIMEDOUT:
		return x.TimeoutError
	}
	return x.OSError
}

// StrError is the text of an error number, as the C library has it.
func StrError(no syscall.Errno) string {
	switch no {
	case 0:
		return "Success"
	case syscall.EIO:
		return "Input/output error"
	case syscall.ENXIO:
		return "No such device or address"
	case syscall.ERANGE:
		return "Numerical result out of range"
	case syscall.EDOM:
		return "Numerical argument out of domain"
	}
	msg := no.Error()
	if msg == "" || strings.HasPrefix(msg, "errno ") {
		return "Unknown error " + strings.TrimPrefix(msg, "errno ")
	}
	if strings.HasPrefix(msg, ".lib") {
		return msg
	}
	return strings.ToUpper(msg[:1]) + msg[1:]
}

// errnoOf is the number of a Go error of the file system, 0 if it has none.
func errnoOf(err error) syscall.Errno {
	var no syscall.Errno
	switch {
	case errors.As(err, &no):
		return no
	case errors.Is(err, fs.ErrNotExist):
		return syscall.ENOENT
	case errors.Is(err, fs.ErrExist):
		return syscall.EEXIST
	case errors.Is(err, fs.ErrPermission):
		return syscall.EACCES
	case errors.Is(err, os.ErrProcessDone):
		return syscall.ESRCH
	case errors.Is(err, os.ErrClosed):
		return syscall.EBADF
	}
	return 0
}

// NewOSError turns a Go error into a Python one, about up to two files as the program named them.
func NewOSError(in *Interp, err error, names ...Object) error {
	no := errnoOf(err)
	if no == 0 {
		return in.Errorf(in.Exc.OSError, "%s", err.Error())
	}
	e := &Exception{Class: in.Exc.errnoClass(no), Args: NewTuple(Int(no), Str(StrError(no)))}
	for _, n := range []string{"filename", "filename2"} {
		e.SetField(n, None)
	}
	e.SetField("errno", e.Args.Items[0])
	e.SetField("strerror", e.Args.Items[1])
	for i, n := range names {
		e.SetField([]string{"filename", "filename2"}[i], n)
	}
	return in.Raise(e)
}

// OSError turns a Go error of the file system into a Python one. path is what it is about; empty for what the error says itself.
func (in *Interp) OSError(err error, path string) error {
	var pe *fs.PathError
	if errors.As(err, &pe) && path == "" {
		path = pe.Path
	}
	if path == "" {
		return NewOSError(in, err)
	}
	return NewOSError(in, err, Str(path))
}

// blockedAt is the third argument of a BlockingIOError where it is a number: how much was written before the file would have made the program
// wait.
func blockedAt(cls *Type, args []Object) (Object, bool) {
	if cls != excTypes.BlockingIOError || len(args) != 3 {
		return nil, false
	}
	_, ok := AsBig(args[2])
	return args[2], ok
}

// writtenOf and setWritten are BlockingIOError.characters_written, which is there only if it was set.
func writtenOf(in *Interp, o Object) (Object, error) {
	if e, ok := o.(*Exception); ok {
		if v, ok := e.Fields.GetStr("characters_written"); ok {
			return v, nil
		}
	}
	return nil, in.Errorf(in.Exc.AttributeError, "characters_written")
}

func setWritten(in *Interp, o, v Object) error {
	e, ok := o.(*Exception)
	if !ok {
		return in.Errorf(in.Exc.TypeError, "descriptor 'characters_written' for 'BlockingIOError' objects doesn't apply to a '%s' object", TypeName(o))
	}
	if v == nil {
		if !e.Fields.DelStr("characters_written") {
			return in.Errorf(in.Exc.AttributeError, "characters_written")
		}
		return nil
	}
	n, err := in.Index(v)
	if err != nil {
		return err
	}
	e.SetField("characters_written", MakeInt(n))
	return nil
}
