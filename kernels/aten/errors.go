package aten

import "fmt"

// Kind names the Python exception that an error becomes.
type Kind string

// The kinds.
const (
	RuntimeError        Kind = "RuntimeError"
	IndexError          Kind = "IndexError"
	TypeError           Kind = "TypeError"
	ValueError          Kind = "ValueError"
	NotImplementedError Kind = "NotImplementedError"
	// LinAlgError is torch.linalg.LinAlgError, a RuntimeError.
	LinAlgError Kind = "LinAlgError"
	// DataDependentError is raised when a fake tensor's data would be needed.
	DataDependentError Kind = "DataDependentOutputException"
)

// An Error is a failed operator call. Its text is PyTorch's.
type Error struct {
	Op   string // "aten.add.Tensor"; "" when not known yet
	Arg  string // the argument at fault, "" if none in particular
	Msg  string
	Kind Kind
}

func (e *Error) Error() string { return e.Msg }

func errf(format string, args ...any) error {
	return &Error{Msg: fmt.Sprintf(format, args...), Kind: RuntimeError}
}

func kindf(k Kind, format string, args ...any) error {
	return &Error{Msg: fmt.Sprintf(format, args...), Kind: k}
}

// dimError is the text for a dimension out of range.
func dimError(dim, nd int64) error {
	if nd == 0 {
		nd = 1
	}
	return kindf(IndexError, "Dimension out of range (expected to be in range of [%d, %d], but got %d)", -nd, nd-1, dim)
}
