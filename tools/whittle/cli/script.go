package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"whittle/capture"
	"whittle/capture/fx"
	"whittle/capture/python/stdlib"
	"whittle/capture/python/vm"
	"whittle/kernels/native"
	"whittle/kernels/tensor"
	"whittle/replay/files"
	"whittle/repros"
	"whittle/tools/whittle/early"
	"whittle/tools/whittle/stack"
)

// script is the child process: it runs one script and reports to the parent over the pipe.
type script struct {
	s      *stack.Session
	path   string
	events *json.Encoder // nil: nobody listens
	rec    *recorder     // nil: no record asked for
	data   dataFolder
	failed map[string]failedGraph // the first failure of each stage
}

// runScript is the hidden subcommand __script DATA [--record FILE] [--frames] [--loops] -- SCRIPT ARGS... DATA is a folder of the parent's for the inputs of graphs.
// "-" for DATA: the rest is read from the parent, once it knows, and what stands here is its command line. fill is as roomFirst's.
func runScript(args []string, fill func(), stdout, stderr io.Writer) int {
	if slices.ContainsFunc(args, namesTorch) {
		go func() {
			stack.Ahead()
			fill()
		}()
	}
	pipe := os.NewFile(3, "events")
	if len(args) > 0 && args[0] == "-" && pipe != nil {
		var err error
		if args, err = early.Wait(pipe); errors.Is(err, io.EOF) {
			return 0
		} else if err != nil {
			fmt.Fprintln(stderr, "whittle:", err)
			return 2
		}
	}
	data, record := "", ""
	if len(args) > 0 {
		data, args = args[0], args[1:]
	}
	if len(args) > 1 && args[0] == "--record" {
		record, args = args[1], args[2:]
	}
	frames := len(args) > 0 && args[0] == "--frames"
	if frames {
		args = args[1:]
	}
	loops := len(args) > 0 && args[0] == "--loops"
	if loops {
		args = args[1:]
	}
	if len(args) < 2 || args[0] != "--" {
		fmt.Fprintf(stderr, "whittle: %s is not for people: use whittle run\n", scriptArg)
		return 2
	}
	args = args[1:]
	program, err := parseInvocation(args)
	if err != nil {
		fmt.Fprintln(stderr, "whittle:", err)
		return 2
	}
	native.DefaultAbort()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	c := &script{s: stack.New(ctx, cacheDir()), path: program.name(), data: dataFolder{path: data}, failed: map[string]failedGraph{}}
	if pipe != nil {
		if _, err := pipe.Stat(); err == nil {
			syscall.CloseOnExec(3)
			c.events = json.NewEncoder(pipe)
			go endWith(pipe)
		}
	}
	c.s.CompileInBackground()
	c.s.TraceLoops = loops
	defer c.s.Close()
	in := c.s.In
	in.Stdout, in.Stderr = stdout, stderr
	defer in.WithContext(ctx)()
	c.s.Dynamo.Observe.Failed = c.dynamoFailed
	c.s.Dynamo.Observe.Run = c.running
	c.s.OnFailure = c.failing
	c.s.RecordFrames(frames, c.frame, func(err error) { fmt.Fprintln(c.s.In.Stderr, "whittle: not recorded:", err) })
	c.s.Dynamo.Observe.Begin = func(b capture.Backend, gm *fx.GraphModule, inputs []*tensor.Tensor) func() {
		c.s.Keep(gm)
		return c.beginOwn(dynamoFailure(b, gm, inputs, nil))
	}
	c.s.Begin = c.begin
	if record != "" {
		c.rec = newRecorder(program.name())
		c.s.Dynamo.Observe.Frame = c.rec.frame
		c.s.Dynamo.Observe.Break = c.rec.broke
		c.s.Dynamo.Observe.Recompile = c.rec.recompiled
		c.s.AOT = c.rec.aot
	}
	err = program.run(in)
	code := finish(in, err, stderr)
	if f := faultOf(err); f != nil {
		c.send(f.event())
	}
	if record != "" {
		at, werr := c.rec.write(record, in, err, code)
		if werr == nil && at != record {
			fmt.Fprintf(stderr, "whittle: %s is not what whittle wrote for this script: it stays, and the record is %s\n", record, at)
		}
		if werr != nil {
			fmt.Fprintln(stderr, "whittle: writing the record:", werr)
			if code == 0 {
				code = 2
			}
		}
	}
	c.sendFailure()
	return code
}

// namesTorch guesses from an argument of the command line, a text or a file, whether torch will be imported.
func namesTorch(arg string) bool {
	if strings.HasSuffix(arg, ".py") {
		text, err := os.ReadFile(arg)
		return err == nil && bytes.Contains(text, []byte("torch"))
	}
	return strings.Contains(arg, "torch")
}

// endWith ends the process when nobody reads the pipe any more: whoever supervises a script has been killed, and a script that nobody supervises
// may run, and grow, for ever.
func endWith(w *os.File) {
	for {
		fds := []unix.PollFd{{Fd: int32(w.Fd())}}
		if _, err := unix.Poll(fds, -1); err != nil && err != unix.EINTR {
			return // there are no means to tell
		}
		if fds[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0 {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
	}
}

// finish prints what ended the script, ends its threads and gives its exit status.
func finish(in *vm.Interp, err error, stderr io.Writer) int {
	defer in.Flush()
	status := ending(in, err, stderr)
	joinThreads(in)
	if aerr := in.RunAtExit(); err == nil {
		status = ending(in, aerr, stderr)
	}
	return status
}

// ending prints what ended the script and gives the exit status of that.
func ending(in *vm.Interp, err error, stderr io.Writer) int {
	if err == nil {
		return 0
	}
	var r *vm.Raised
	if !errors.As(err, &r) {
		_ = in.Flush()
		if f := faultOf(err); f != nil {
			f.print(stderr)
			return internalStatus
		}
		fmt.Fprintln(stderr, "whittle:", err)
		return 1
	}
	if r.Exc.Class.IsSubtype(in.Exc.SystemExit) {
		_ = in.Flush()
		v := r.Exc.Field("code")
		switch v := v.(type) {
		case *vm.NoneType:
			return 0
		case vm.Int:
			return int(v) & 0xff
		case vm.Bool:
			if v {
				return 1
			}
			return 0
		}
		if s, serr := in.Str(v); serr == nil {
			fmt.Fprintln(stderr, s)
		}
		return 1
	}
	own, herr := stdlib.Excepthook(in, r, stderr)
	if herr != nil { // sys.exit in the hook
		return ending(in, herr, stderr)
	}
	_ = in.Flush()
	if !own {
		fmt.Fprint(stderr, in.FormatException(r))
	}
	if r.Exc.Class.IsSubtype(in.Exc.KeyboardInterrupt) {
		return 128 + int(syscall.SIGINT) // what a shell says of a program that the signal has ended
	}
	return 1
}

func (c *script) send(e event) {
	if c.events != nil {
		_ = c.events.Encode(e) // a parent that is gone needs no news
	}
}

// frame hands a recorded frame to the parent, which has the store.
func (c *script) frame(r *capture.FrameRecord) {
	data, err := json.Marshal(r)
	if err != nil {
		fmt.Fprintln(c.s.In.Stderr, "whittle: not recorded:", err)
		return
	}
	c.send(event{Kind: "frame", Frame: data, Raw: r.Function})
}

// begin tells the parent what is about to be compiled, or to run; the function it returns tells it that the step is over.
func (c *script) begin(f *stack.Failure) func() {
	if c.events == nil {
		return func() {}
	}
	kept := c.data.step(crashData)
	text, err := c.repro(f, kept)
	if err != nil {
		kept.drop()
		return func() {}
	}
	level, after, dir := c.s.ReproConfig()
	c.send(event{Kind: "begin", Repro: text, Data: kept.dir, Dir: dir, Level: level, After: after, Calls: len(f.Graph.Graph.Calls())})
	return func() {
		c.send(event{Kind: "end"})
		kept.drop()
	}
}

// beginOwn is begin for a backend that is written in Python. One of our own announces its parts itself.
func (c *script) beginOwn(f *stack.Failure) func() {
	if !inPython(f.Fn) {
		return func() {}
	}
	return c.begin(f)
}

// inPython reports whether a backend is written in Python.
func inPython(backend vm.Object) bool {
	_, ok := backend.(*vm.Function)
	return ok
}

func (c *script) dynamoFailed(b capture.Backend, gm *fx.GraphModule, inputs []*tensor.Tensor, err error) {
	f := dynamoFailure(b, gm, inputs, err)
	f.Accuracy = c.s.TakeAccuracy()
	c.failing(f)
}

// running is told of each run of a backend's code. What the run writes to is copied before: a failure has its inputs as they were.
func (c *script) running(b capture.Backend, gm *fx.GraphModule, args []vm.Object, first bool) func(error) {
	end := func() {}
	if first {
		end = c.beginOwn(dynamoFailure(b, gm, c.s.Tensors(args), nil))
	}
	if inPython(b.Fn) && gm.Graph.IsMutating(fx.UnknownMay) {
		if copies, err := c.s.Snapshot(args); err == nil {
			args = copies
		}
	}
	return func(err error) {
		end()
		if err != nil {
			c.raised(b, gm, args, err)
		}
	}
}

// raised notes that the code of a backend written in Python raises where the graph itself does not.
func (c *script) raised(b capture.Backend, gm *fx.GraphModule, args []vm.Object, err error) {
	if len(c.failed) > 0 || !inPython(b.Fn) || c.s.RunGraph(gm, args) != nil {
		return
	}
	f := dynamoFailure(b, gm, c.s.Tensors(args), err)
	f.Running = true
	c.failing(f)
}

func dynamoFailure(b capture.Backend, gm *fx.GraphModule, inputs []*tensor.Tensor, err error) *stack.Failure {
	return &stack.Failure{Stage: "dynamo", Backend: b.Name, Graph: gm, Inputs: inputs, Err: err, Fn: b.Fn}
}

// failedGraph is a failure as a repro, made when it happened: the script may go on, and write to the inputs.
type failedGraph struct {
	*stack.Failure
	text string
	kept *inputData
	err  error // why there is no text
}

// failing keeps the first failure of each stage, and leaves a launcher of each where the settings ask for that.
func (c *script) failing(f *stack.Failure) {
	level, after, _ := c.s.ReproConfig()
	launch := after == f.Stage && level != 1
	_, again := c.failed[f.Stage]
	keep := !again && !c.s.InRepro
	if !keep && !launch {
		return
	}
	g := failedGraph{Failure: f, kept: c.data.step(c.data.room())}
	if g.text, g.err = c.repro(f, g.kept); g.kept.err != nil {
		fmt.Fprintln(c.s.In.Stderr, "whittle: inputs of the failing graph are not kept, random data stand in:", g.kept.err)
	}
	if launch {
		c.launcher(g)
	}
	if keep {
		c.failed[f.Stage] = g
	} else {
		g.kept.drop()
	}
}

// launcher leaves minifier_launcher.py, as PyTorch does where repro_after names the stage that failed.
func (c *script) launcher(g failedGraph) {
	if g.err != nil {
		fmt.Fprintln(c.s.In.Stderr, "whittle: the failing graph cannot be written as a launcher:", g.err)
		return
	}
	d := c.s.Dynamo
	if g.Stage == "dynamo" {
		point, text := capture.LogReproFailed, "Compiled Fx GraphModule failed. Creating script to minify the error."
		if g.Accuracy {
			point, text = capture.LogReproInaccurate, "Accuracy failed for the TorchDynamo produced graph. Creating script to minify the error."
		}
		d.Log(point, text)
	} else if g.Accuracy {
		d.Log(capture.LogReproDrift, "Accuracy failed for the AOT Autograd graph "+c.s.GraphName(g.Kind))
	}
	dir, err := c.s.DebugDir()
	path := filepath.Join(dir, "minifier", "minifier_launcher.py")
	if err == nil {
		err = g.kept.save(path)
	}
	at := path
	if err == nil { // a second failure of the run has a launcher of its own
		at, err = files.Put(path, []byte(g.text), g.Graph.Hash(), c.s.Signature(g.Failure).String())
	}
	if err != nil {
		fmt.Fprintln(c.s.In.Stderr, "whittle: writing minifier_launcher.py:", err)
		return
	}
	d.Log(capture.LogReproWritten, "Writing minified repro to:\n"+at)
	if g.Stage == "aot" && !g.Accuracy {
		d.Log(capture.LogReproError, "CompilerError")
	}
}

// sendFailure hands the failure to the parent, with the settings that decide what happens to it.
func (c *script) sendFailure() {
	if len(c.failed) == 0 || c.s.InRepro {
		return
	}
	level, after, dir := c.s.ReproConfig()
	g, found := c.failed["aot"]
	if d, ok := c.failed["dynamo"]; ok && (!found || after == "dynamo") {
		g, found = d, true
	}
	if !found {
		return
	}
	if g.err != nil {
		fmt.Fprintln(c.s.In.Stderr, "whittle: the failing graph cannot be written as a repro:", g.err)
		return
	}
	c.send(event{Kind: "failed", Repro: g.text, Data: g.kept.dir, Dir: dir, Sig: c.s.Signature(g.Failure), Raw: g.Err.Error(), Level: level, After: after})
}

// repro is a graph as a repro file, with the data of its inputs as far as they are kept.
func (c *script) repro(f *stack.Failure, kept *inputData) (string, error) {
	r := &repros.Repro{Module: f.Graph, Stage: repros.AfterAOT, Command: "minify"}
	if f.Accuracy {
		r.Accuracy = repros.WithAccuracy
	}
	for _, s := range c.s.ChangedConfig() {
		r.Config = append(r.Config, repros.Setting{Name: s[0], Value: s[1]})
	}
	if f.Stage == "dynamo" {
		r.Stage, r.Backend = repros.AfterDynamo, f.Backend
		if f.Fn != nil {
			lines, err := c.s.BackendSource(f.Fn, f.Backend)
			if err != nil {
				return "", err
			}
			r.Preamble = strings.Join(lines, "\n")
		}
	}
	names := make([]string, 0)
	vals := make([]any, 0)
	grads, made := map[*tensor.Tensor]bool{}, map[*tensor.Tensor]bool{}
	for i, n := range f.Graph.Graph.Placeholders() {
		names = append(names, n.Target)
		v := n.Val
		if i < len(f.Inputs) && f.Inputs[i] != nil {
			v = f.Inputs[i]
			grads[f.Inputs[i]], made[f.Inputs[i]] = c.s.RequiresGrad(f.Inputs[i]), !c.s.IsLeaf(f.Inputs[i])
		}
		vals = append(vals, v)
	}
	gm, _ := f.Graph.Clone()
	gm.ClassName = "Repro"
	r.Module = gm
	err := r.FromTensors(names, vals, kept.put, func(t *tensor.Tensor) (requiresGrad, leaf bool) { return grads[t], !made[t] })
	if len(kept.hashes) > 0 {
		r.SaveDir = checkpoints
	}
	return repros.Write(r), err
}

// joinThreads waits for the threads that the script has started and not made daemons, as CPython does at the end of a program.
func joinThreads(in *vm.Interp) {
	o, ok := in.Modules.GetStr("threading")
	if !ok || o == vm.None {
		return
	}
	_, _ = in.CallMethod(o, "_shutdown")
}
