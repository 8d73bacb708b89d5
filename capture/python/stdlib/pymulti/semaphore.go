package pymulti

/*
#cgo LDFLAGS: -pthread
#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>
static sem_t *wh_create(const char *name, unsigned value) { return sem_open(name, O_CREAT | O_EXCL, 0600, value); }
static sem_t *wh_find(const char *name) { return sem_open(name, 0); }
static int wh_wait(sem_t *s, long ns) {
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += ns % 1000000000;
	t.tv_sec += ns / 1000000000 + t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return sem_timedwait(s, &t);
}
*/
import "C"

import (
	"time"
	"unsafe"
)

// semaphore is a named semaphore of the system.
type semaphore struct{ p *C.sem_t }

// openSemaphore makes a semaphore that must be new, or, with a negative value, finds one that is there.
func openSemaphore(name string, value int64) (semaphore, error) {
	s := C.CString(name)
	defer C.free(unsafe.Pointer(s))
	var p *C.sem_t
	var err error
	if value < 0 {
		p, err = C.wh_find(s)
	} else {
		p, err = C.wh_create(s, C.uint(value))
	}
	if p == nil {
		return semaphore{}, err
	}
	return semaphore{p}, nil
}

// unlinkSemaphore takes the name away; who has the semaphore open keeps it.
func unlinkSemaphore(name string) error {
	s := C.CString(name)
	defer C.free(unsafe.Pointer(s))
	if n, err := C.sem_unlink(s); n != 0 {
		return err
	}
	return nil
}

// try takes one without waiting.
func (s semaphore) try() error {
	if n, err := C.sem_trywait(s.p); n != 0 {
		return err
	}
	return nil
}

// wait takes one within a time, else the error is ETIMEDOUT or EINTR.
func (s semaphore) wait(d time.Duration) error {
	if n, err := C.wh_wait(s.p, C.long(d)); n != 0 {
		return err
	}
	return nil
}

// post gives one back.
func (s semaphore) post() error {
	if n, err := C.sem_post(s.p); n != 0 {
		return err
	}
	return nil
}

// value is how many can be taken.
func (s semaphore) value() (int64, error) {
	var v C.int
	if n, err := C.sem_getvalue(s.p, &v); n != 0 {
		return 0, err
	}
	return max(int64(v), 0), nil
}

func (s semaphore) close() { C.sem_close(s.p) }

// handle is the number by which Python knows it.
func (s semaphore) handle() int64 { return int64(uintptr(unsafe.Pointer(s.p))) }
