package ops

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// A Record is one recorded call. Args and Kwargs are decoded afresh by each use, because calls may change them.
type Record struct {
	File    string `json:"-"`
	Op      string `json:"op"`
	Variant string `json:"variant"`
	Sample  int    `json:"sample"`
	DType   string `json:"dtype"`
	Call    string `json:"call"`

	Args   []json.RawMessage          `json:"args"`
	Kwargs map[string]json.RawMessage `json:"kwargs"`
	Aten   []string                   `json:"aten"`

	Out           json.RawMessage `json:"out"`
	Noise         []*float64      `json:"noise"`
	Nonunique     []int           `json:"nonunique"`
	Uninitialised bool            `json:"uninitialised"`
	Mutated       []Changed       `json:"mutated"`
	Alias         []Alias         `json:"alias"`
	Grad          *Grad           `json:"grad"`
}

// Changed is an argument that the call changed, and its value afterwards.
type Changed struct {
	Path  []any           `json:"path"`
	Value json.RawMessage `json:"value"`
}

// Grad is the recorded gradient of the weighted sum over the result leaves named.
type Grad struct {
	Leaves []int `json:"leaves"`
	Inputs []struct {
		Path  []any           `json:"path"`
		Value json.RawMessage `json:"value"`
		Noise *float64        `json:"noise"`
	} `json:"inputs"`
}

// Alias says that a leaf of the result shares memory with an argument. In JSON it is a pair.
type Alias struct {
	Leaf int
	Path []any
}

// UnmarshalJSON implements json.Unmarshaler.
func (a *Alias) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, &[]any{&a.Leaf, &a.Path})
}

// A Tuple is a decoded Python tuple; lists are []aten.Value.
type Tuple []aten.Value

// A Slice is a decoded slice object; nil bounds were None.
type Slice struct{ Start, Stop, Step aten.Value }

// Ellipsis is a decoded `...`.
type Ellipsis struct{}

// ReadFile reads the records of one .jsonl.gz file. Of those that cannot be read it gives a line each, with file and record: the others count.
func ReadFile(path string) (recs []*Record, broken []string) {
	f, err := os.Open(path)
	if err != nil {
		return nil, []string{err.Error()}
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, []string{fmt.Sprintf("%s: %v", path, err)}
	}
	defer z.Close()
	r := bufio.NewReaderSize(z, 1<<20)
	for n := 1; ; n++ {
		line, end := r.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 && (end == nil || end == io.EOF) {
			rec := &Record{File: path}
			if err := json.Unmarshal(line, rec); err != nil {
				broken = append(broken, fmt.Sprintf("%s:%d: %s%v", path, n, named(line), err))
			} else {
				recs = append(recs, rec)
			}
		}
		if end == io.EOF {
			return recs, broken
		}
		if end != nil { // there is no telling what comes after
			return recs, append(broken, fmt.Sprintf("%s:%d: %v", path, n, end))
		}
	}
}

var (
	reOp     = regexp.MustCompile(`"op": ?"([^"]*)"`)
	reSample = regexp.MustCompile(`"sample": ?(\d+)`)
)

// named is which record a line holds that is no JSON, as far as it can be told.
func named(line []byte) string {
	op, sample := reOp.FindSubmatch(line), reSample.FindSubmatch(line)
	if op == nil || sample == nil {
		return ""
	}
	return fmt.Sprintf("%s #%s: ", op[1], sample[1])
}

type tensorJSON struct {
	T       string  `json:"t"`
	Shape   []int64 `json:"shape"`
	Stride  []int64 `json:"stride"`
	Offset  int64   `json:"offset"`
	Data    *string `json:"data"`
	Storage *string `json:"storage"`
}

// Decode turns a JSON value into an aten.Value, Tuple, Slice, Ellipsis or complex128.
func Decode(raw json.RawMessage) (aten.Value, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return nil, fmt.Errorf("empty value")
	}
	switch raw[0] {
	case 'n':
		return nil, nil
	case 't':
		return true, nil
	case 'f':
		return false, nil
	case '"':
		var s string
		err := json.Unmarshal(raw, &s)
		return s, err
	case '[':
		return decodeList(raw)
	case '{':
		var m map[string]json.RawMessage
		if err := json.Unmarshal(raw, &m); err != nil {
			return nil, err
		}
		return decodeObject(raw, m)
	}
	return strconv.ParseInt(string(raw), 10, 64)
}

func decodeList(raw json.RawMessage) ([]aten.Value, error) {
	var l []json.RawMessage
	if err := json.Unmarshal(raw, &l); err != nil {
		return nil, err
	}
	out := make([]aten.Value, len(l))
	for i, r := range l {
		v, err := Decode(r)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

func decodeObject(raw json.RawMessage, m map[string]json.RawMessage) (aten.Value, error) {
	str := func(k string) string {
		var s string
		_ = json.Unmarshal(m[k], &s)
		return s
	}
	switch {
	case m["t"] != nil:
		var t tensorJSON
		if err := json.Unmarshal(raw, &t); err != nil {
			return nil, err
		}
		return t.tensor()
	case m["float"] != nil:
		return strconv.ParseFloat(str("float"), 64)
	case m["tuple"] != nil:
		l, err := decodeList(m["tuple"])
		return Tuple(l), err
	case m["dtype"] != nil:
		d, ok := tensor.ParseDType(str("dtype"))
		if !ok {
			return nil, fmt.Errorf("unknown dtype %s", str("dtype"))
		}
		return d, nil
	case m["device"] != nil:
		return tensor.Device{Type: str("device"), Index: -1}, nil
	case m["layout"] != nil:
		return tensor.Layout(str("layout")), nil
	case m["memory_format"] != nil:
		return tensor.MemoryFormat(str("memory_format")), nil
	case m["ellipsis"] != nil:
		return Ellipsis{}, nil
	case m["slice"] != nil:
		l, err := decodeList(m["slice"])
		if err != nil || len(l) != 3 {
			return nil, fmt.Errorf("bad slice")
		}
		return Slice{l[0], l[1], l[2]}, nil
	case m["complex"] != nil:
		var p [2]string
		if err := json.Unmarshal(m["complex"], &p); err != nil {
			return nil, err
		}
		re, err1 := strconv.ParseFloat(p[0], 64)
		im, err2 := strconv.ParseFloat(p[1], 64)
		if err1 != nil || err2 != nil {
			return nil, fmt.Errorf("bad complex number")
		}
		return complex(re, im), nil
	}
	return nil, fmt.Errorf("unknown value %.60s", raw)
}

func (j tensorJSON) tensor() (*tensor.Tensor, error) {
	d, ok := tensor.ParseDType(j.T)
	if !ok {
		return nil, fmt.Errorf("unknown dtype %s", j.T)
	}
	if len(j.Shape) != len(j.Stride) {
		return nil, fmt.Errorf("shape and stride differ in length")
	}
	n := j.Offset + 1
	for i, s := range j.Shape {
		if s < 0 || j.Stride[i] < 0 {
			return nil, fmt.Errorf("negative size")
		}
		if s == 0 {
			n = j.Offset
			break
		}
		n += (s - 1) * j.Stride[i]
	}
	t := tensor.EmptyStrided(d, []int64{n}, []int64{1})
	if j.Storage != nil {
		b, err := base64.StdEncoding.DecodeString(*j.Storage)
		if err != nil {
			return nil, err
		}
		s := tensor.NewStorage(int64(len(b)))
		copy(s.Data, b)
		t.Storage = s
	}
	t.Shape, t.Stride, t.Offset = j.Shape, j.Stride, j.Offset
	if t.Shape == nil {
		t.Shape, t.Stride = []int64{}, []int64{}
	}
	if j.Data != nil && j.Storage == nil {
		b, err := base64.StdEncoding.DecodeString(*j.Data)
		if err != nil {
			return nil, err
		}
		src, err := tensor.FromBytes(d, b, t.Shape...)
		if err != nil {
			return nil, err
		}
		tensor.Copy(t, src)
	}
	return t, nil
}

// arguments decodes the record's arguments; fakes makes tensors metadata only.
func (r *Record) arguments(fakes bool) ([]aten.Value, map[string]aten.Value, error) {
	args := make([]aten.Value, len(r.Args))
	for i, a := range r.Args {
		v, err := Decode(a)
		if err != nil {
			return nil, nil, fmt.Errorf("argument %d: %w", i, err)
		}
		args[i] = v
	}
	kw := map[string]aten.Value{}
	for k, a := range r.Kwargs {
		v, err := Decode(a)
		if err != nil {
			return nil, nil, fmt.Errorf("argument %s: %w", k, err)
		}
		kw[k] = v
	}
	if fakes {
		for i := range args {
			args[i] = toFake(args[i])
		}
		for k := range kw {
			kw[k] = toFake(kw[k])
		}
	}
	return args, kw, nil
}

func toFake(v aten.Value) aten.Value {
	switch v := v.(type) {
	case *tensor.Tensor:
		return tensor.FakeLike(v)
	case []aten.Value:
		for i := range v {
			v[i] = toFake(v[i])
		}
	case Tuple:
		for i := range v {
			v[i] = toFake(v[i])
		}
	}
	return v
}

// leaves flattens a value depth first over lists and tuples.
func leaves(v aten.Value) []aten.Value {
	switch v := v.(type) {
	case Tuple:
		return leaves([]aten.Value(v))
	case []aten.Value:
		out := []aten.Value{}
		for _, x := range v {
			out = append(out, leaves(x)...)
		}
		return out
	}
	return []aten.Value{v}
}

func (r *Record) name() string {
	return strings.TrimSpace(fmt.Sprintf("%s %s#%d %s", r.Op, r.Variant, r.Sample, r.DType))
}

// at is the argument that a path names, such as ["args", 0, 2].
func at(path []any, args []aten.Value, kw map[string]aten.Value) (aten.Value, error) {
	bad := fmt.Errorf("no argument %v", path)
	if len(path) < 2 {
		return nil, bad
	}
	var v aten.Value
	rest := path[1:]
	if path[0] == "kwargs" {
		name, _ := path[1].(string)
		v, rest = kw[name], path[2:]
	} else {
		v = args
	}
	for _, p := range rest {
		i, ok := p.(float64)
		if !ok {
			return nil, bad
		}
		var l []aten.Value
		switch v := v.(type) {
		case []aten.Value:
			l = v
		case Tuple:
			l = v
		}
		if int(i) < 0 || int(i) >= len(l) {
			return nil, bad
		}
		v = l[int(i)]
	}
	return v, nil
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// readCore reads which overloads are tagged core from ATEN.tsv; a folder without the file has none.
func readCore(dir string) (map[string]bool, error) {
	b, err := os.ReadFile(filepath.Join(dir, "ATEN.tsv"))
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	core := map[string]bool{}
	for line := range strings.Lines(string(b)) {
		if f := strings.Split(line, "\t"); len(f) > 1 {
			core[f[0]] = f[1] == "yes"
		}
	}
	return core, nil
}
