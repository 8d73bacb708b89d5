package cli

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"whittle/lowering/triton"
	"whittle/replay/files"
	"whittle/repros"
	"whittle/tools/whittle/stack"
)

// codegenCheck is what a Python with torch, Triton and a GPU runs.
//
//go:embed codegen.py
var codegenCheck string

// codegenOptions are the command's flags.
type codegenOptions struct {
	device string
	gpu    string
	out    string
	check  bool
	torch  string
	json   bool
}

func (a *app) codegenCommand() *cobra.Command {
	var o codegenOptions
	var gpus []string
	for _, d := range triton.Devices {
		gpus = append(gpus, d.Name)
	}
	c := &cobra.Command{
		Use:   "codegen FILE",
		Short: "Print the code that is generated for a repro or an fx graph: Triton for a CUDA device, or C++",
		Long: `Prints the code that the lowering makes of FILE: a repro.py or minifier_launcher.py, PyTorch's or ours, after dynamo or after aot, or an fx graph
as print_readable() and TORCH_LOGS show it. Of what is not aten operators yet it prints the code of each graph that AOTAutograd makes, the
backward graph included.

--device cuda gives the Python module that PyTorch would run on a GPU, in the layout of TORCH_LOGS=output_code: Triton kernels, and a call() that
launches them. No GPU is needed, and no Triton. What no loop stands for is a call of the operator (extern_kernels.mm, torch.ops.aten.topk.default).
--device cpu gives what TORCH_LOGS=output_code prints for the CPU.

--check runs the module where there are a GPU, torch and Triton, and compares it with the graph run eagerly there.
Exit status: 0 printed (and the same), 1 there is no code for it (or it computes something else), 2 used wrongly, or nothing to check it with.`,
		Example: `  whittle codegen repro.py
  whittle codegen --device cpu repro.py
  whittle codegen --gpu h100 -o output_code.py graph.py
  whittle codegen --check --torch "ssh HOST python3" repro.py`,
		Args: oneFile("codegen"),
		RunE: func(c *cobra.Command, args []string) error { return a.codegen(c.Context(), args[0], o) },
	}
	f := c.Flags()
	f.StringVar(&o.device, "device", "cuda", "what the code is for: cuda or cpu")
	f.StringVar(&o.gpu, "gpu", gpus[0], "the GPU that the kernels name as theirs: "+strings.Join(gpus, ", "))
	f.StringVarP(&o.out, "output", "o", "", "write to this file; where there are several graphs, to one for each, NAME-backward.py; what is in its place and is not whittle's stays (default: print)")
	f.BoolVar(&o.check, "check", false, "run the module on a GPU, and compare it with eager")
	f.StringVar(&o.torch, "torch", os.Getenv("WHITTLE_TORCH"), "with --check: command that starts a Python with torch (default $WHITTLE_TORCH, then python3)")
	f.BoolVar(&o.json, "json", false, "print JSON: kind, code and graph of each")
	return c
}

func (a *app) codegen(ctx context.Context, file string, o codegenOptions) error {
	var device *triton.Device
	switch kind, _, _ := strings.Cut(o.device, ":"); kind {
	case "cuda":
		i := slices.IndexFunc(triton.Devices, func(d triton.Device) bool { return d.Name == strings.ToLower(o.gpu) })
		if i < 0 {
			return usagef("--gpu %s is not known (see whittle codegen --help)", o.gpu)
		}
		device = &triton.Devices[i]
	case "cpu":
		if o.check {
			return usagef("--check is for --device cuda (whittle accuracy compares what runs on the CPU)")
		}
	default:
		return usagef("--device %s: cuda or cpu", o.device)
	}
	r, err := readRepro(file)
	if err != nil {
		if text, rerr := os.ReadFile(file); rerr == nil && !repros.IsRepro(string(text)) {
			return usagef("%v (of a program, TORCH_LOGS=output_code whittle run %s shows the code)", err, file)
		}
		return err
	}
	all, err := stack.Codegen(ctx, r, filepath.Dir(file), device)
	if err != nil {
		fmt.Fprintf(a.stderr, "whittle: %s: %s\n", file, cause(err))
		return exitCode(1)
	}
	switch {
	case o.check:
		return a.checkCode(ctx, all, o)
	case o.json:
		b, err := json.MarshalIndent(all, "", "  ")
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(a.stdout, "%s\n", b)
		return err
	}
	for _, g := range all {
		if o.out == "" {
			if len(all) > 1 {
				fmt.Fprintf(a.stdout, "# %s graph\n", g.Kind)
			}
			fmt.Fprint(a.stdout, g.Text)
			continue
		}
		path := o.out
		if len(all) > 1 {
			ext := filepath.Ext(path)
			path = strings.TrimSuffix(path, ext) + "-" + g.Kind + ext
		}
		var err error
		if device != nil {
			path, err = files.Put(path, []byte(g.Text), "codegen", file, g.Kind)
		} else { // whose text has no place for a seal
			err = files.Exact(path, []byte(g.Text))
		}
		if err != nil {
			return usageError{err}
		}
		fmt.Fprintln(a.stdout, path)
	}
	return nil
}

// cause is an error in a line, with what the backend raised behind the line that says that it did.
func cause(err error) string {
	first := oneLine(err)
	if rest, ok := strings.CutPrefix(err.Error(), first+"\n"); ok && strings.HasSuffix(first, "raised:") {
		next, _, _ := strings.Cut(rest, "\n")
		return first + " " + next
	}
	return first
}

// checkAnswer is what codegen.py says.
type checkAnswer struct {
	Cannot string  `json:"cannot"` // why nothing was compared
	Same   bool    `json:"same"`
	Worst  float64 `json:"worst"` // difference
	Device string  `json:"device"`
	Torch  string  `json:"torch"`
	Triton string  `json:"triton"`
}

// checkCode runs modules with a Python that has a GPU.
func (a *app) checkCode(ctx context.Context, all []stack.Generated, o codegenOptions) error {
	command := strings.Fields(o.torch)
	if len(command) == 0 {
		command = []string{"python3"}
	}
	differ := false
	for _, g := range all {
		ask, err := json.Marshal(map[string]string{"module": g.Text, "graph": g.Graph})
		if err == nil {
			ask, err = json.Marshal(string(ask)) // which Python reads as a string, too
		}
		if err != nil {
			return err
		}
		cmd := exec.CommandContext(ctx, command[0], append(slices.Clone(command[1:]), "-")...)
		var out bytes.Buffer
		said := &lastLine{}
		cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader("ASK = "+string(ask)+"\n"+codegenCheck), &out, said
		err = cmd.Run()
		var ans checkAnswer
		_, text, found := strings.Cut(out.String(), "whittle-codegen ")
		if !found || json.Unmarshal([]byte(text), &ans) != nil {
			if said.String() != "" {
				err = errors.New(said.String())
			}
			return usagef("%s: the %s graph was not compared: %v", strings.Join(command, " "), g.Kind, err)
		}
		switch {
		case ans.Cannot != "":
			return usagef("%s: %s", strings.Join(command, " "), ans.Cannot)
		case ans.Same:
			fmt.Fprintf(a.stdout, "%s graph: the same on %s (torch %s, Triton %s), the worst difference is %.3g\n", g.Kind, ans.Device, ans.Torch, ans.Triton, ans.Worst)
		default:
			differ = true
			fmt.Fprintf(a.stdout, "%s graph: differs on %s (torch %s, Triton %s), by up to %.3g\n", g.Kind, ans.Device, ans.Torch, ans.Triton, ans.Worst)
		}
	}
	if differ {
		return exitCode(1)
	}
	return nil
}
