package aten

import (
	"math"
	"math/bits"
)

// Which of equal elements topk takes, and in which order, follows from how they are found. PyTorch leaves that to the C++ library; the
// three algorithms here are those of GNU's, step by step, as each decides about equal ones: introselect and introsort (Musser, 1997) with
// the median of three, and selection by a heap. kthvalue has its own quickselect.

// An entry is one element of a line: a number of its order, and its position.
type entry struct {
	key uint64
	at  int64
}

// entries is the line, each with a key that is less the earlier it comes.
func (l *sorting) entries(desc bool) []entry {
	flip := uint64(0)
	if desc {
		flip = math.MaxUint64
	}
	l.es = room(l.es, len(l.b))
	for i := range l.es {
		l.es[i] = entry{l.key(i) ^ flip, int64(i)}
	}
	return l.es
}

// best is the positions of the first k, in order if they are to be sorted.
func (l *sorting) best(k int, desc, sorted bool) []int64 {
	l.p = room(l.p, k)
	if k == 0 {
		return l.p
	}
	es := l.entries(desc)
	if k*64 <= len(es) {
		heapSelect(es, k)
		heapSort(es[:k])
	} else {
		nth(es, k-1)
		if sorted {
			introsort(es[:k-1])
		}
	}
	for i := range l.p {
		l.p[i] = es[i].at
	}
	return l.p
}

// depth is after how many divisions of n entries a heap takes over.
func depth(n int) int { return 2 * (bits.Len(uint(n)) - 1) }

// nth brings the entry of place k there, with none greater before it and none less after it.
func nth(es []entry, k int) {
	for d := depth(len(es)); len(es) > 3; d-- {
		if d == 0 {
			heapSelect(es, k+1)
			es[0], es[k] = es[k], es[0]
			return
		}
		if cut := divide(es); cut <= k {
			es, k = es[cut:], k-cut
		} else {
			es = es[:cut]
		}
	}
	insertion(es)
}

// introsort sorts, not stably.
func introsort(es []entry) {
	if len(es) > 1 {
		roughly(es, depth(len(es)))
		insertion(es)
	}
}

// roughly sorts but for runs of 16.
func roughly(es []entry, d int) {
	for ; len(es) > 16; d-- {
		if d == 0 {
			heapSelect(es, len(es))
			heapSort(es)
			return
		}
		cut := divide(es)
		roughly(es[cut:], d-1)
		es = es[:cut]
	}
}

// divide puts the middle one of three first, and those that do not come after it before the others, which start where it says.
func divide(es []entry) int {
	a, b, c := 1, len(es)/2, len(es)-1
	m := a
	switch x, y, z := es[a].key, es[b].key, es[c].key; {
	case x < y && y < z, x >= y && x >= z && y >= z:
		m = b
	case x < y && x < z, x >= y && x >= z:
		m = c
	}
	es[0], es[m] = es[m], es[0]
	pivot, i, j := es[0].key, 1, len(es)
	for {
		for es[i].key < pivot {
			i++
		}
		for j--; pivot < es[j].key; j-- {
		}
		if i >= j {
			return i
		}
		es[i], es[j] = es[j], es[i]
		i++
	}
}

// insertion sorts stably, a few or what is nearly in order.
func insertion(es []entry) {
	for i := range es {
		e, j := es[i], i
		for ; j > 0 && e.key < es[j-1].key; j-- {
			es[j] = es[j-1]
		}
		es[j] = e
	}
}

// heapSelect makes a heap of the k least, the greatest on top.
func heapSelect(es []entry, k int) {
	for i := k/2 - 1; i >= 0; i-- {
		sift(es[:k], i, es[i])
	}
	for i := k; i < len(es); i++ {
		if es[i].key < es[0].key {
			e := es[i]
			es[i] = es[0]
			sift(es[:k], 0, e)
		}
	}
}

// heapSort sorts a heap.
func heapSort(es []entry) {
	for n := len(es) - 1; n > 0; n-- {
		e := es[n]
		es[n] = es[0]
		sift(es[:n], 0, e)
	}
}

// sift fills the hole with the greater children down to the bottom, and lets e rise from there.
func sift(es []entry, hole int, e entry) {
	top, n, i := hole, len(es), hole
	for i < (n-1)/2 {
		i = 2 * (i + 1)
		if es[i].key < es[i-1].key {
			i--
		}
		es[hole] = es[i]
		hole = i
	}
	if n%2 == 0 && i == (n-2)/2 {
		i = 2*i + 1
		es[hole] = es[i]
		hole = i
	}
	for hole > top && es[(hole-1)/2].key < e.key {
		es[hole] = es[(hole-1)/2]
		hole = (hole - 1) / 2
	}
	es[hole] = e
}

// kth is the position of the k-th from the least on, by the quickselect of Numerical Recipes.
func (l *sorting) kth(k int) int64 {
	es := l.entries(false)
	inOrder := func(i, j int) {
		if es[i].key > es[j].key {
			es[i], es[j] = es[j], es[i]
		}
	}
	for lo, hi := 0, len(es)-1; lo < hi; {
		if hi == lo+1 {
			inOrder(lo, hi)
			break
		}
		mid := lo + (hi-lo)/2
		es[mid], es[lo+1] = es[lo+1], es[mid]
		inOrder(lo+1, hi)
		inOrder(lo, hi)
		inOrder(lo+1, lo)
		i, j, pivot := lo+1, hi, es[lo].key
		for {
			for i++; es[i].key < pivot; i++ {
			}
			for j--; es[j].key > pivot; j-- {
			}
			if j < i {
				break
			}
			es[i], es[j] = es[j], es[i]
		}
		es[lo], es[j] = es[j], es[lo]
		if j <= k {
			lo = i
		}
		if j >= k {
			hi = j - 1
		}
	}
	return es[k].at
}
