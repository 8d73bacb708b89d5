package cli

import "golang.org/x/sys/unix"

// populate has the system give pages to n bytes of memory from at, as far as they have none: what is there stays, and whoever has the memory
// notices nothing. It goes on page by page, so that others get at the process's memory in between; a system that knows no such thing says so at
// the first.
func populate(at uintptr, n int) {
	const page = 2 << 20
	at = (at + page - 1) &^ (page - 1)
	for ; n >= page; n -= page {
		if _, _, e := unix.Syscall(unix.SYS_MADVISE, at, page, unix.MADV_POPULATE_WRITE); e != 0 {
			return
		}
		at += page
	}
}
