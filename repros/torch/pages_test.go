package torch

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLargePages: the parts of a process's memory that large pages fit in are gone over once, a little at a time, and hold what they held. A kernel that
// has no such thing is not asked again.
func TestLargePages(t *testing.T) {
	got := farSays(t, `
import mmap
from whittle_far import pages
size = 24 << 20
memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
memory.write(bytes(range(256)) * (size // 256))
parts = list(pages.private())
print(all(at % pages.LARGE == 0 and 0 < n <= pages.AT_ONCE and n % pages.LARGE == 0 for at, n in parts), sum(n for _, n in parts) >= size - 2 * pages.LARGE)
p = pages.Pages()
turns = 0
while p.left():
    p.turn()
    turns += 1
print(turns == len(parts) or turns == 1, memory[:] == bytes(range(256)) * (size // 256))

class Old:
    calls = 0
    def madvise(self, at, size, what):
        pages.ctypes.set_errno(22)
        Old.calls += what == pages.COLLAPSE
        return -1
p = pages.Pages()
p.madvise = Old().madvise
while p.left():
    p.turn()
print(Old.calls)
`)
	if diff := cmp.Diff("True True\nTrue True\n1\n", got); diff != "" {
		t.Error(diff)
	}
}
