package capture

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/renameio/v2"

	"whittle/capture/python/vm"
)

// What captures saw of sizes and numbers may outlive the process: the next run of the same job compiles for dynamic sizes at once. That is
// asked for by the setting automatic_dynamic_local_pgo and a job_id, as in torch/_dynamo/pgo.py.

// savedSizes is seenSizes as it is written.
type savedSizes struct {
	Int    *int64   `json:"int,omitempty"`
	Float  *float64 `json:"float,omitempty"`
	Wild   bool     `json:"wild,omitempty"`
	Size   []int64  `json:"size"` // null before a tensor was seen
	Free   []bool   `json:"free,omitempty"`
	Rank   bool     `json:"rank,omitempty"`
	Stride []string `json:"stride,omitempty"`
	Shift  []bool   `json:"shift,omitempty"`
}

// savedCode is what was seen of one code object.
type savedCode struct {
	File    string                `json:"file"`
	Name    string                `json:"name"`
	Line    int                   `json:"line"`
	Sources map[string]savedSizes `json:"sources"`
}

// profilePath is where the history of this job lies; "" where none is kept.
func (d *Dynamo) profilePath() string {
	if on, err := d.configBool("automatic_dynamic_local_pgo"); err != nil || !on {
		return ""
	}
	m, err := d.In.Import("torch.compiler.config")
	if err != nil {
		return ""
	}
	setting := func(name string) string {
		v, err := d.In.GetAttr(m, name)
		if err != nil {
			return ""
		}
		s, _ := vm.AsStr(v)
		return s
	}
	job := setting("job_id")
	if job == "" {
		return ""
	}
	dir := d.environ("TORCHINDUCTOR_CACHE_DIR")
	if dir == "" {
		dir = d.environ("WHITTLE_CACHE")
	}
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return ""
		}
		dir = filepath.Join(cache, "whittle")
	}
	sum := sha256.Sum256([]byte(job + "\x00" + setting("cache_key_tag")))
	return filepath.Join(dir, "dynamo", "code_state_"+hex.EncodeToString(sum[:16])+".json")
}

// loadProfile takes over what earlier runs of this job saw, once after a reset. A file that cannot be read is as good as none.
func (d *Dynamo) loadProfile() {
	if d.profiled {
		return
	}
	d.profiled = true
	path := d.profilePath()
	if path == "" {
		return
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return
	}
	var codes []savedCode
	if json.Unmarshal(text, &codes) != nil {
		return
	}
	for _, c := range codes {
		h := map[string]*seenSizes{}
		for name, s := range c.Sources {
			if n := len(s.Size); len(s.Free) != n || len(s.Shift) != n || len(s.Stride) != n {
				continue
			}
			seen := &seenSizes{wild: s.Wild, size: s.Size, free: s.Free, rank: s.Rank, stride: s.Stride, shift: s.Shift}
			switch {
			case s.Int != nil:
				seen.number = vm.MakeInt(*s.Int)
			case s.Float != nil:
				seen.number = vm.Float(*s.Float)
			}
			h[name] = seen
		}
		d.history[codeID{c.File, c.Name, c.Line}] = h
	}
}

// saveProfile writes what was seen so far. It is a hint for the next run: one that cannot be written is left out.
func (d *Dynamo) saveProfile() {
	path := d.profilePath()
	if path == "" {
		return
	}
	var codes []savedCode
	for id, h := range d.history {
		c := savedCode{id.file, id.name, id.line, map[string]savedSizes{}}
		for name, s := range h {
			out := savedSizes{Wild: s.wild, Size: s.size, Free: s.free, Rank: s.rank, Stride: s.stride, Shift: s.shift}
			switch n := s.number.(type) {
			case nil:
			case vm.Int:
				v, _ := vm.AsInt(n)
				out.Int = &v
			case vm.Float:
				v := float64(n)
				out.Float = &v
			default:
				continue // too large a number
			}
			c.Sources[name] = out
		}
		codes = append(codes, c)
	}
	slices.SortFunc(codes, func(a, b savedCode) int {
		return cmp.Or(strings.Compare(a.File, b.File), a.Line-b.Line, strings.Compare(a.Name, b.Name))
	})
	text, err := json.Marshal(codes)
	if err != nil || os.MkdirAll(filepath.Dir(path), 0o777) != nil {
		return
	}
	_ = renameio.WriteFile(path, text, 0o600)
}
