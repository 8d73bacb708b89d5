package capture

import (
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"whittle/capture/fx"
)

// traceLog is the file under TORCH_TRACE: a line of JSON for each step of a compilation, its payload indented below.
type traceLog struct {
	file   *os.File
	failed bool
}

// structured writes one entry; a folder that cannot be written ends the logging, not the program.
func (d *Dynamo) structured(kind string, meta map[string]any, id, payload string) {
	dir := d.environ("TORCH_TRACE")
	if dir == "" || d.log.failed {
		return
	}
	if d.log.file == nil {
		err := os.MkdirAll(dir, 0o777)
		if err == nil {
			d.log.file, err = os.CreateTemp(dir, "dedicated_log_torch_trace_*.log")
		}
		if err != nil {
			d.log.failed = true
			return
		}
	}
	if meta == nil {
		meta = map[string]any{}
	}
	head, err := json.Marshal(meta)
	if err != nil {
		return
	}
	var frame, compile int
	_, _ = fmt.Sscanf(id, "%d/%d", &frame, &compile) // an entry outside of any frame has 0/0
	line := fmt.Sprintf("{%q: %s, \"frame_id\": %d, \"frame_compile_id\": %d, \"attempt\": 0", kind, head, frame, compile)
	if payload != "" {
		sum := md5.Sum([]byte(payload))
		line += fmt.Sprintf(", \"has_payload\": %q", hex.EncodeToString(sum[:]))
	}
	now := time.Now()
	text := fmt.Sprintf("V%s %d torch/_dynamo:0] %s}\n", now.Format("0102 15:04:05.000000"), os.Getpid(), line)
	if payload != "" {
		text += "\t" + strings.ReplaceAll(strings.TrimRight(payload, "\n"), "\n", "\n\t") + "\n"
	}
	if _, err := d.log.file.WriteString(text); err != nil {
		d.log.failed = true
	}
}

// structuredFrame writes what became of a frame.
func (d *Dynamo) structuredFrame(ev *FrameEvent) {
	if d.environ("TORCH_TRACE") == "" {
		return
	}
	if ev.Graph != nil {
		d.structured("dynamo_output_graph", nil, ev.ID, fx.ShownCalls(ev.Graph.Graph.Forward("    ")))
	}
	if ev.Status == "compiled" {
		var b strings.Builder
		for _, g := range ev.Guards {
			fmt.Fprintf(&b, "%s: %s\n", g.Kind, g.Expr)
		}
		d.structured("dynamo_cpp_guards_str", nil, ev.ID, b.String())
	}
	metrics := map[string]any{"compile_id": ev.ID, "co_name": ev.Name, "co_filename": ev.File, "co_firstlineno": ev.Line, "guard_count": len(ev.Guards), "status": ev.Status}
	if ev.Err != nil {
		metrics["fail_reason"] = ev.Err.Error()
	}
	d.structured("compilation_metrics", metrics, ev.ID, "")
}

// Structured reports whether structured logs are written.
func (d *Dynamo) Structured() bool { return d.environ("TORCH_TRACE") != "" }

// StructuredGraph writes an aten graph: kind is inference, forward or backward.
func (d *Dynamo) StructuredGraph(kind string, gm *fx.GraphModule) {
	if d.Structured() {
		d.structured("aot_"+kind+"_graph", nil, d.compiling, gm.Graph.Forward("    "))
	}
}
