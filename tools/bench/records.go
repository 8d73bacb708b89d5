package main

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
)

// A record is what the rows of the registry are made of: a recorded call, of which the values of its arguments matter little.
type record struct {
	Op      string                     `json:"op"`
	Variant string                     `json:"variant"`
	DType   string                     `json:"dtype"`
	Call    string                     `json:"call"`
	Args    []json.RawMessage          `json:"args"`
	Kwargs  map[string]json.RawMessage `json:"kwargs"`
}

// name is the operator as its row is called.
func (r *record) name() string {
	if r.Variant == "" {
		return r.Op
	}
	return r.Op + "." + r.Variant
}

// records reads the float32 records of a folder, those of one operator together, in the order of the operators' names: the one with the largest tensor
// comes first.
func records(dir string) ([][]*record, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl.gz"))
	if err != nil {
		return nil, err
	}
	var all [][]*record
	for _, f := range files {
		recs, err := readRecords(f)
		if err != nil {
			return nil, err
		}
		of := map[string][]*record{}
		var names []string
		for _, r := range recs {
			if r.DType != "float32" || r.largest() < 2 {
				continue
			}
			if of[r.name()] == nil {
				names = append(names, r.name())
			}
			of[r.name()] = append(of[r.name()], r)
		}
		for _, n := range names {
			slices.SortStableFunc(of[n], func(a, b *record) int { return int(b.largest() - a.largest()) })
			all = append(all, of[n])
		}
	}
	if len(all) == 0 {
		return nil, errors.New("no records of float32 in " + dir)
	}
	return all, nil
}

func readRecords(path string) ([]*record, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	var out []*record
	d := json.NewDecoder(bufio.NewReader(z))
	for {
		r := &record{}
		if err := d.Decode(r); err == io.EOF {
			return out, nil
		} else if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
}

// tensors calls f for the shape of each tensor among the arguments.
func (r *record) tensors(f func(shape []int64)) {
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, x := range v {
				walk(x)
			}
		case map[string]any:
			if _, ok := v["t"]; !ok {
				for _, x := range v {
					walk(x)
				}
				return
			}
			list, _ := v["shape"].([]any)
			shape := make([]int64, len(list))
			for i, s := range list {
				n, _ := s.(float64)
				shape[i] = int64(n)
			}
			f(shape)
		}
	}
	each := func(raw json.RawMessage) {
		var v any
		if json.Unmarshal(raw, &v) == nil {
			walk(v)
		}
	}
	for _, a := range r.Args {
		each(a)
	}
	for _, a := range r.Kwargs {
		each(a)
	}
}

// largest is how many elements the largest tensor has.
func (r *record) largest() int64 {
	n, _ := r.extent()
	return n
}

// extent is how many elements the largest tensor has, and along how many dimensions it can grow.
func (r *record) extent() (elements int64, dims int) {
	r.tensors(func(shape []int64) {
		n, d := int64(1), 0
		for _, s := range shape {
			n *= s
			if s > 1 {
				d++
			}
		}
		if n > elements {
			elements, dims = n, d
		}
	})
	return elements, dims
}

// scale is by how much each size above 1 has to be multiplied for the largest tensor to have about want elements. Sizes that are equal stay equal, so
// that tensors go on to fit each other.
func (r *record) scale(want int64) int64 {
	n, d := r.extent()
	return max(1, int64(math.Round(math.Pow(float64(want)/float64(n), 1/float64(max(d, 1))))))
}
