package replay

import "fmt"

// OpenError says why a file cannot be the store, in one line.
type OpenError struct {
	Path string
	Why  Reason
	Err  error // nil where Why says all
}

// Reason is why a database was refused.
type Reason string

// The reasons.
const (
	NotADatabase Reason = "not a SQLite database"
	Foreign      Reason = "a SQLite database of another program"
	Truncated    Reason = "damaged or cut short"
	Newer        Reason = "written by a newer whittle"
	IsDirectory  Reason = "a directory"
	NotWritable  Reason = "not writable"
	NoDirectory  Reason = "in a directory that does not exist"
	Locked       Reason = "held by another writer"
	Orphaned     Reason = "gone, and its log is still there"
	Unreachable  Reason = "not to be read or written"
)

func (e *OpenError) Error() string {
	s := fmt.Sprintf("store %s: %s", e.Path, e.Why)
	if e.Err != nil {
		s += fmt.Sprintf(" (%v)", e.Err)
	}
	return s
}

func (e *OpenError) Unwrap() error { return e.Err }

// FullError says that the disk, or the limit on the store's size, is reached. What was acknowledged before is kept.
type FullError struct {
	Path string
	Err  error
}

func (e *FullError) Error() string { return fmt.Sprintf("store %s: no space left: %v", e.Path, e.Err) }
func (e *FullError) Unwrap() error { return e.Err }

// CorruptError says that stored bytes are not what their key says.
type CorruptError struct {
	Table, Key string
	Msg        string
}

func (e *CorruptError) Error() string { return fmt.Sprintf("%s %s: %s", e.Table, e.Key, e.Msg) }

// NotFoundError says that the store has no such row.
type NotFoundError struct{ Table, Key string }

func (e *NotFoundError) Error() string { return fmt.Sprintf("the store has no %s %s", e.Table, e.Key) }
