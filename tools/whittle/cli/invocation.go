package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"whittle/capture/python/code"
	"whittle/capture/python/stdlib"
	"whittle/capture/python/vm"
	"whittle/tools/whittle/prompt"
)

// invocation is what `whittle run` was told to run, in the words of the command python.
type invocation struct {
	kind string   // file, code, module, stdin, folder
	what string   // the file, the text, the module's name
	args []string // the program's own

	ignoreEnv bool     // -E, -I: PYTHONPATH is not read
	isolated  bool     // -I, -P: neither the script's folder nor the working folder is on sys.path
	optimize  int      // -O, how often
	inspect   bool     // -i: a prompt follows, or is the program
	quiet     bool     // -q: the prompt does not introduce itself
	bare      bool     // -S: sitecustomize and usercustomize are not imported
	warn      []string // -W
	x         []string // -X
}

// pythonFlags are the single letters of python's that change nothing here, or what sys.flags shows.
const pythonFlags = "bBdEIPsSuqvxiO"

// isPython reports whether an argument is one of python's own: then `whittle ARGS` is `whittle run ARGS`, so that sys.executable behaves as a
// Python for programs that start it.
func isPython(arg string) bool {
	return len(arg) > 1 && arg[0] == '-' && strings.IndexByte(pythonFlags+"cmXW", arg[1]) >= 0
}

// namesProgram reports whether an argument names a program, and no command: `whittle FILE` is `whittle run FILE`, for the same reason.
func namesProgram(root *cobra.Command, arg string) bool {
	if c, _, err := root.Find([]string{arg}); err == nil && c != root {
		return false
	}
	if strings.HasPrefix(arg, "-") {
		return arg == "-"
	}
	_, err := os.Stat(arg)
	return err == nil || filepath.Ext(arg) == ".py"
}

// splitRun puts run's own flags first, then -- and what is python's: its flags, the program, and all that follows.
func splitRun(args []string) []string {
	var own, python []string
	for i := 0; i < len(args); i++ {
		a := args[i]
		pair := args[i:min(i+2, len(args))]
		switch {
		case a == "--":
			return slices.Concat(own, args[i:i+1], python, args[i+1:])
		case a == "-", !strings.HasPrefix(a, "-"), isPython(a) && strings.ContainsAny(a, "cm"):
			return slices.Concat(own, []string{"--"}, python, args[i:])
		case isPython(a) && (strings.HasSuffix(a, "W") || strings.HasSuffix(a, "X")):
			python = append(python, pair...)
			i++
		case isPython(a):
			python = append(python, a)
		case a == "-j" || a == "--jobs" || a == "--record" || a == "--hang" || a == "--store" || a == "--path" || a == "--report":
			own = append(own, pair...)
			i++
		default:
			own = append(own, a)
		}
	}
	return slices.Concat(own, []string{"--"}, python)
}

// parseInvocation reads python's arguments.
func parseInvocation(args []string) (v invocation, err error) {
	for len(args) > 0 {
		a := args[0]
		if a == "-" {
			v.kind, v.what, v.args = "stdin", "-", args[1:]
			return v, nil
		}
		if !strings.HasPrefix(a, "-") {
			break
		}
		args = args[1:]
		for k := 1; k < len(a); k++ {
			switch c := a[k]; c {
			case 'c', 'm', 'X', 'W':
				value := a[k+1:]
				if value == "" {
					if len(args) == 0 {
						return v, usagef("run: argument expected for the -%c option", c)
					}
					value, args = args[0], args[1:]
				}
				switch c {
				case 'X':
					v.x = append(v.x, value)
				case 'W':
					v.warn = append(v.warn, value)
				default:
					v.kind, v.what, v.args = map[byte]string{'c': "code", 'm': "module"}[c], value, args
					return v, nil
				}
				k = len(a)
			case 'E':
				v.ignoreEnv = true
			case 'I':
				v.ignoreEnv, v.isolated = true, true
			case 'P':
				v.isolated = true
			case 'O':
				v.optimize++
			case 'i':
				v.inspect = true
			case 'q':
				v.quiet = true
			case 'S':
				v.bare = true
			default:
				if strings.IndexByte(pythonFlags, c) < 0 {
					return v, usagef("run: unknown option -%c", c)
				}
			}
		}
	}
	if len(args) == 0 {
		v.kind = "stdin"
		if v.inspect {
			v.kind = "prompt"
		}
		return v, nil
	}
	v.kind, v.what, v.args = "file", args[0], args[1:]
	if st, err := os.Stat(v.what); err == nil && (st.IsDir() || isArchive(v.what)) {
		v.kind = "folder"
	}
	return v, nil
}

// isArchive reports whether a file is a zip archive, by its first bytes.
func isArchive(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	b := make([]byte, 4)
	_, err = io.ReadFull(f, b)
	return err == nil && string(b) == "PK\x03\x04"
}

// name is what reports call the program.
func (v invocation) name() string {
	switch v.kind {
	case "code":
		return "-c"
	case "stdin", "prompt":
		return "-"
	}
	return v.what
}

// argv is sys.argv before the program is looked for.
func (v invocation) argv() []string {
	first := map[string]string{"code": "-c", "module": "-m", "prompt": ""}
	if name, ok := first[v.kind]; ok {
		return append([]string{name}, v.args...)
	}
	return append([]string{v.what}, v.args...)
}

// run runs the program, and the prompt if one is asked for.
func (v invocation) run(in *vm.Interp) error {
	if _, err := vm.HashesRandomized(); err != nil && !v.ignoreEnv {
		return usagef("run: %v", err)
	}
	in.Configure(vm.Settings{Warn: v.warn, X: v.x, IgnoreEnv: v.ignoreEnv, Isolated: v.isolated, Optimize: v.optimize, Inspect: v.inspect})
	if err := stdlib.Site(in); err != nil {
		return err
	}
	if !v.bare {
		in.SetArgv(v.argv(), nil)
		if err := stdlib.Customize(in); err != nil {
			return err
		}
	}
	history := "" // what is typed into a program is the program's affair: only the prompt keeps lines
	if dir := cacheDir(); dir != "" && v.inspect {
		history = filepath.Join(dir, "prompt_history")
	}
	editor, terminal := prompt.New(os.Stdin, os.Stdout, history)
	if terminal {
		prompt.Attach(in, editor)
	}
	if !v.inspect {
		return v.program(in)
	}
	banner := v.kind == "prompt" && !v.quiet
	if v.kind == "prompt" {
		first := ""
		in.SetArgv([]string{""}, &first)
		in.NewMain()
		if err := v.startup(in); err != nil {
			return err
		}
	} else if err := v.program(in); err != nil {
		var r *vm.Raised
		if !errors.As(err, &r) {
			return err
		}
		if err := in.Flush(); err != nil {
			return err
		}
		fmt.Fprint(in.Stderr, in.FormatException(r))
	}
	return prompt.Run(in, editor, banner)
}

// startup runs the file that PYTHONSTARTUP names, whose names the prompt has.
func (v invocation) startup(in *vm.Interp) error {
	file := os.Getenv("PYTHONSTARTUP")
	if file == "" || v.ignoreEnv {
		return nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		fmt.Fprintf(in.Stderr, "whittle: PYTHONSTARTUP: %v\n", err)
		return nil
	}
	main, _ := in.Modules.GetStr("__main__")
	c, err := in.Compile(file, string(text), code.Exec)
	if err == nil {
		_, err = in.RunCode(c, main.(*vm.Module).Dict, nil)
	}
	var r *vm.Raised
	if errors.As(err, &r) {
		fmt.Fprint(in.Stderr, in.FormatException(r))
		return nil
	}
	return err
}

// program runs what is not the prompt.
func (v invocation) program(in *vm.Interp) error {
	first := ""
	switch v.kind {
	case "file":
		return in.RunFile(v.what, v.args)
	case "code":
		in.SetArgv(append([]string{"-c"}, v.args...), &first)
		return in.RunText("<string>", v.what+"\n")
	case "stdin":
		text, err := io.ReadAll(in.StdinReader())
		if err != nil {
			return err
		}
		in.SetArgv(append([]string{v.what}, v.args...), &first)
		return in.RunText("<stdin>", string(text))
	case "folder":
		at, err := filepath.Abs(v.what)
		if err != nil {
			return err
		}
		in.SetArgv(append([]string{v.what}, v.args...), &at)
		return v.runpy(in, "__main__", vm.False)
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	in.SetArgv(append([]string{"-m"}, v.args...), &dir)
	return v.runpy(in, v.what, vm.True)
}

// runpy runs a module as the main one, as CPython does.
func (v invocation) runpy(in *vm.Interp, module string, argv vm.Object) error {
	in.NewMain()
	m, err := in.Import("runpy")
	if err != nil {
		return err
	}
	_, err = in.CallMethod(m, "_run_module_as_main", vm.Str(module), argv)
	return err
}
