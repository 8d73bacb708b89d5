package aten

import (
	"strings"

	"whittle/kernels/tensor"
)

// apartText says of operators that write by indices which of their arguments must not share memory with what is written, in-place or by out=: what is read
// would depend on the order of the writes. Behind a * the written tensor may show one place twice.
const apartText = `
index_add: index source
index_copy: index source
index_fill*: index
scatter: index src
scatter_add: index src
scatter_reduce: index src
put*: index source
gather: self index
index_select: self index
masked_select: self mask
take: self index
cat: tensors
`

// apartRow is a line of apartText.
type apartRow struct {
	args    []string
	doubles bool // the written tensor may show one place twice
}

var apart = func() map[string]apartRow {
	rows := map[string]apartRow{}
	for _, line := range strings.Split(strings.TrimSpace(apartText), "\n") {
		name, args, _ := strings.Cut(line, ":")
		rows[strings.TrimSuffix(name, "*")] = apartRow{strings.Fields(args), strings.HasSuffix(name, "*")}
	}
	return rows
}()

// checkApart refuses a call of an operator of apartText that would write to what it reads.
func checkApart(op *Op, args []Value) error {
	s := op.Sig()
	row, ok := apart[strings.TrimSuffix(s.Name, "_")]
	if !ok {
		return nil
	}
	var written []*tensor.Tensor
	for i, a := range s.Args {
		if t, ok := args[i].(*tensor.Tensor); ok && t != nil && strings.Contains(a.Alias, "!") {
			written = append(written, t)
		}
	}
	for _, w := range written {
		if !row.doubles && w.HasInternalOverlap() {
			return errTwice()
		}
		for i, a := range s.Args {
			for _, name := range row.args {
				if a.Name == name && firstOf(args[i:i+1], func(t *tensor.Tensor) bool { return shares(w, t) }) != nil {
					return errShared()
				}
			}
		}
	}
	return nil
}

// bytesOf is where in its storage the bytes of a dense tensor are.
func bytesOf(t *tensor.Tensor) (from, to int64) {
	from = t.Offset * int64(t.DType.Size())
	return from, from + t.Numel()*int64(t.DType.Size())
}

// shares reports whether two tensors have a place in common, as far as that can be said at once: of those that are dense.
func shares(a, b *tensor.Tensor) bool {
	if a.Storage != b.Storage || a.Numel() == 0 || b.Numel() == 0 {
		return false
	}
	if a == b {
		return true
	}
	if !a.IsNonOverlappingAndDense() || !b.IsNonOverlappingAndDense() {
		return false
	}
	from, to := bytesOf(a)
	at, end := bytesOf(b)
	return at < to && end > from
}

func errTwice() error {
	return errf("unsupported operation: more than one element of the written-to tensor refers to a single memory location. Please clone() the tensor before performing the operation.")
}

func errShared() error {
	return errf("unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory location. Please clone() the tensor before performing the operation.")
}
