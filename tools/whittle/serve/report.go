package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Bounds of what is shown of a JSON text.
const (
	treeNodes = 3000
	treeDepth = 12
	treeWide  = 10 // columns of a table
)

// tree is a JSON value as a page shows it: one of its parts is set.
type tree struct {
	Text   string // a text, a number, true, false or null
	Fields []field
	Items  []*tree
	Head   []string // of a table, whose rows have a cell for each
	Rows   [][]*tree
	Left   int // values that are not shown
}

type field struct {
	Name  string
	Value *tree
}

// parseTree reads a JSON text, whatever program wrote it.
func parseTree(text []byte) (*tree, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("no JSON: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("no JSON: something stands after it")
	}
	left := treeNodes
	return newTree(v, treeDepth, &left), nil
}

func newTree(v any, depth int, left *int) *tree {
	*left--
	if *left < 0 || depth == 0 {
		return &tree{Text: "…"}
	}
	switch v := v.(type) {
	case nil:
		return &tree{Text: "–"}
	case map[string]any:
		t := &tree{}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if *left <= 0 {
				t.Left++
				continue
			}
			t.Fields = append(t.Fields, field{k, newTree(v[k], depth-1, left)})
		}
		if t.Fields == nil && t.Left == 0 {
			t.Text = "–"
		}
		return t
	case []any:
		if len(v) == 0 {
			return &tree{Text: "–"}
		}
		if head := columns(v); head != nil {
			return newTable(v, head, depth, left)
		}
		t := &tree{}
		for _, x := range v {
			if *left <= 0 {
				t.Left++
				continue
			}
			t.Items = append(t.Items, newTree(x, depth-1, left))
		}
		return t
	}
	return &tree{Text: fmt.Sprint(v)}
}

// columns are the names of the fields of a list of objects: nil where it is not one, or has too many.
func columns(list []any) []string {
	names := map[string]bool{}
	for _, x := range list {
		m, ok := x.(map[string]any)
		if !ok {
			return nil
		}
		for k := range m {
			names[k] = true
		}
		if len(names) > treeWide {
			return nil
		}
	}
	if len(names) == 0 {
		return nil
	}
	return slices.Sorted(maps.Keys(names))
}

func newTable(list []any, head []string, depth int, left *int) *tree {
	t := &tree{Head: head}
	for _, x := range list {
		if *left <= 0 {
			t.Left++
			continue
		}
		m, _ := x.(map[string]any)
		var row []*tree
		for _, k := range head {
			cell := &tree{}
			if v, ok := m[k]; ok {
				cell = newTree(v, depth-1, left)
			}
			row = append(row, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// words is a value in a line, for the cell of a table: names with their values, lists between commas.
func (t *tree) words() string {
	var parts []string
	for _, f := range t.Fields {
		v := f.Value.words()
		if len(f.Value.Fields) > 0 {
			v = "(" + v + ")"
		}
		parts = append(parts, f.Name+": "+v)
	}
	for _, i := range t.Items {
		parts = append(parts, i.words())
	}
	for _, r := range t.Rows {
		var row []string
		for i, c := range r {
			row = append(row, t.Head[i]+": "+c.words())
		}
		parts = append(parts, "("+strings.Join(row, "; ")+")")
	}
	sep := ", "
	if len(t.Fields) > 0 {
		sep = "; "
	}
	if len(parts) == 0 {
		return t.Text
	}
	return strings.Join(parts, sep)
}
