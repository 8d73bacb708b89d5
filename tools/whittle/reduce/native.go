package reduce

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"whittle/capture/fx"
	"whittle/kernels/tensor"
	"whittle/minify"
	"whittle/replay"
	"whittle/repros"
	"whittle/repros/engine"
	"whittle/tools/whittle/stack"
)

// Native asks worker processes of whittle's own stack.
type Native struct {
	*minify.EagerValues
	pool  *engine.Engine
	work  string
	about []string
}

// NativeOptions configure a Native.
type NativeOptions struct {
	Limits   engine.Limits
	Print    string // the engine's fingerprint
	CacheDir string // of generated code
	About    []string
}

// NewNative starts nothing yet; workers start with the first query.
func NewNative(o NativeOptions, stage repros.Stage) (*Native, error) {
	work, err := os.MkdirTemp("", "whittle-minify-")
	if err != nil {
		return nil, err
	}
	n := &Native{EagerValues: &minify.EagerValues{}, pool: &engine.Engine{Print: o.Print, Limits: o.Limits}, work: work, about: o.About}
	if stage == repros.AfterDynamo {
		n.Execute = func(ctx context.Context, gm *fx.GraphModule, inputs []any, see func(*fx.Node, any)) error {
			return stack.Execute(ctx, o.CacheDir, gm, inputs, see)
		}
	}
	return n, nil
}

// Close ends the workers.
func (n *Native) Close() error {
	err := n.pool.Close()
	if e := os.RemoveAll(n.work); err == nil {
		err = e
	}
	return err
}

// Fingerprint implements Engine.
func (n *Native) Fingerprint() string { return n.pool.Fingerprint() }

// Name implements Engine.
func (n *Native) Name() string { return "native" }

// About implements Engine.
func (n *Native) About() []string { return n.about }

// Checks implements Engine: meta functions know aten operators.
func (n *Native) Checks(r *repros.Repro) bool { return r.Stage != repros.AfterDynamo }

// Load implements Engine.
func (n *Native) Load(_ context.Context, r *repros.Repro, dir string) (minify.State, error) {
	s := minify.State{Module: r.Module}
	inputs, err := r.Tensors(r.Loader(dir))
	if err != nil {
		return s, err
	}
	for i, v := range inputs {
		s.Inputs = append(s.Inputs, minify.Input{Value: v, RequiresGrad: r.Inputs[i].RequiresGrad})
	}
	for _, c := range r.Config {
		s.Config = append(s.Config, minify.Setting(c))
	}
	return s, nil
}

// render makes the repro of a state. put stores the bytes of a storage and gives their hash.
func (n *Native) render(r *repros.Repro, s minify.State, put func(t *tensor.Tensor) (repros.Storage, error)) (*repros.Repro, error) {
	real, err := n.MakeAll(s.Inputs)
	if err != nil {
		return nil, err
	}
	x := with(r, s)
	err = place(x, s, func(i int, _ minify.Input) (repros.Storage, error) {
		t, ok := real[i].(*tensor.Tensor)
		if !ok {
			return repros.Storage{}, fmt.Errorf("no data")
		}
		return put(t)
	})
	return x, err
}

// Run implements Engine.
func (n *Native) Run(ctx context.Context, r *repros.Repro, c minify.Candidate) (replay.Outcome, error) {
	x, err := n.render(r, c.State, func(t *tensor.Tensor) (repros.Storage, error) {
		h, err := repros.WriteStorage(filepath.Join(n.work, saveDir), t.Storage.Data)
		return repros.Storage{Hash: h, NBytes: t.Storage.NBytes}, err
	})
	var sys syscall.Errno
	if errors.As(err, &sys) { // the disk is at fault, and not the candidate
		return replay.Outcome{}, err
	}
	if err != nil {
		return replay.Outcome{Status: replay.Invalid, Message: err.Error()}, nil
	}
	x.SaveDir = saveDir
	return n.pool.Run(ctx, engine.Query{Repro: repros.Write(x), Dir: n.work, Backend: r.Backend, Fresh: c.Fresh})
}

// saveDir is the folder of storages beside a repro file.
const saveDir = "checkpoints"

// Finish implements Engine.
func (n *Native) Finish(_ context.Context, r *repros.Repro, s minify.State) (*repros.Repro, map[string][]byte, error) {
	stored := map[string][]byte{}
	x, err := n.render(r, s, func(t *tensor.Tensor) (repros.Storage, error) {
		return inlined(t.Storage.Data, t.DType, stored), nil
	})
	if err != nil {
		return x, stored, err
	}
	x.SaveDir = ""
	if len(stored) > 0 {
		x.SaveDir = saveDir
	}
	return x, stored, nil
}

// maxInline is up to how many elements a storage is written into the repro's text.
const maxInline = 64

// inlined is a storage as text where it is small, else by the hash of its bytes, which are added to stored.
func inlined(data []byte, d tensor.DType, stored map[string][]byte) repros.Storage {
	st := repros.Storage{NBytes: int64(len(data)), DTypeHint: d.String()}
	if n := len(data) / d.Size(); n*d.Size() == len(data) && (n <= maxInline || uniform(data, d.Size())) {
		st.Expr = repros.DataExpr(d.String(), []int64{int64(n)}, data, "") + ".untyped_storage()"
		return st
	}
	st.Hash = repros.StorageHash(data)
	stored[st.Hash] = data
	return st
}

// uniform reports whether all elements are the same.
func uniform(data []byte, size int) bool {
	for i := size; i < len(data); i += size {
		if !slices.Equal(data[i:i+size], data[:size]) {
			return false
		}
	}
	return len(data) > 0
}

var lastLine = regexp.MustCompile(`^(?:[A-Za-z_]\w*\.)*([A-Za-z_]\w*)(?:: (.*))?$`)

// RunScript implements Engine: whittle runs the script.
func (n *Native) RunScript(ctx context.Context, _ *repros.Repro, text string) (replay.Outcome, error) {
	self, err := os.Executable()
	if err != nil {
		return replay.Outcome{}, err
	}
	dir, err := os.MkdirTemp(n.work, "script-")
	if err != nil {
		return replay.Outcome{}, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "script.py")
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		return replay.Outcome{}, err
	}
	limit := n.pool.Limits.Wall
	if limit == 0 {
		limit = time.Minute
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, self, "run", "--no-minify", file)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "WHITTLE_STORE=", "TORCHDYNAMO_REPRO_AFTER=", "TORCHDYNAMO_REPRO_DIR="+dir)
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return replay.Outcome{Status: replay.Timeout, Signature: replay.Signature{Type: "timeout"}}, nil
	}
	if err == nil {
		return replay.Outcome{Status: replay.Pass}, nil
	}
	return scriptOutcome(string(out)), nil
}

// scriptOutcome reads the exception off a traceback.
func scriptOutcome(out string) replay.Outcome {
	o := replay.Outcome{Status: replay.Failed, Message: out}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		m := lastLine.FindStringSubmatch(lines[i])
		if m == nil || !strings.Contains(m[1], "E") {
			continue
		}
		o.Signature = replay.NewSignature("", m[1], m[2], nil, nil)
		return o
	}
	return o
}
