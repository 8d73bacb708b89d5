// Package pymulti is what Python's multiprocessing stands on: module _multiprocessing with its semaphores, and _posixshmem.
//
// The semaphores are POSIX's named ones, as processes find them by name (semaphore.go has the calls of C, semlock.go the class). Shared memory
// are files in /dev/shm, as the C library has it.
package pymulti
