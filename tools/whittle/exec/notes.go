package exec

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Setting is one of torch's settings by its whole name, with a value as JSON has it. As JSON it is a list, as the hook reads and writes it.
type Setting struct {
	Name   string
	Before any // what it was before the program changed it; of Calls.Settings unused
	Value  any
}

// MarshalJSON writes name and value.
func (s Setting) MarshalJSON() ([]byte, error) { return json.Marshal([]any{s.Name, s.Value}) }

// UnmarshalJSON reads name, what it was, and value.
func (s *Setting) UnmarshalJSON(b []byte) error {
	var parts []any
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	name, ok := "", false
	if len(parts) == 3 {
		name, ok = parts[0].(string)
	}
	if !ok {
		return errors.New("a setting has a name and two values")
	}
	s.Name, s.Before, s.Value = name, parts[1], parts[2]
	return nil
}

// Note is something besides the results of calls, where Calls.Notes asks for it.
type Note struct {
	// Kind: compile, the program calls torch.compile; settings, that it has changed, at the first call; begin, of a call; raised, by one; ended, what the
	// program died of; end, it came to its end.
	Kind      string         `json:"kind"`
	N         int            `json:"n"`
	What      string         `json:"what"`
	At        string         `json:"at"` // file:line of the program
	Arguments map[string]any `json:"arguments"`
	Changed   []Setting      `json:"changed"`
	Type      string         `json:"type"` // of an exception
	Message   string         `json:"message"`
}

// notes reads what was noted, up to the first line that a program which was ended left half written.
func (p *private) notes() ([]Note, error) {
	f, err := os.Open(filepath.Join(p.dir, "notes.jsonl"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []Note
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, longestCall)
	for lines.Scan() {
		var n Note
		if json.Unmarshal(lines.Bytes(), &n) != nil {
			return out, nil
		}
		out = append(out, n)
	}
	return out, lines.Err()
}
