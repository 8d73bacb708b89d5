package syntax

// NewFile is a file that was not parsed: its statements come from a tree that a program has made.
func NewFile(filename string, body []Stmt) (*File, error) {
	f := &File{Filename: filename, Source: "\n", Body: body, Future: map[string]bool{}}
	if e := f.future(); e != nil {
		return nil, e
	}
	return f, nil
}
