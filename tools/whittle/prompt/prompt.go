package prompt

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"syscall"
	"unicode"

	"whittle/capture/python/vm"
)

// Attach has input() read by an editor, as long as the program's standard streams are those that it was started with.
func Attach(in *vm.Interp, e *Editor) {
	in.ReadLine = func(prompt string) (string, error) { return readLine(in, e, prompt) }
}

func readLine(in *vm.Interp, e *Editor, prompt string) (string, error) {
	line, err := e.ReadLine(prompt)
	switch {
	case errors.Is(err, ErrInterrupt):
		return "", in.Errorf(in.Exc.KeyboardInterrupt, "")
	case err == io.EOF:
		return "", in.Errorf(in.Exc.EOFError, "")
	case err != nil:
		return "", in.OSError(err, "")
	}
	return line, nil
}

// Run is Python's interactive prompt in the module __main__, until the end of the input or SystemExit, which it returns. Lines come from e, or,
// where that is nil, from the standard input. Prompts and tracebacks go to sys.stderr but for what an editor shows. banner says whether it
// introduces itself.
func Run(in *vm.Interp, e *Editor, banner bool) error {
	m, err := in.Import("code")
	if err != nil {
		return err
	}
	if err := interruptible(in); err != nil {
		return err
	}
	main, ok := in.Modules.GetStr("__main__")
	if !ok {
		main = in.NewMain()
	}
	names, err := in.GetAttr(main, "__dict__")
	if err != nil {
		return err
	}
	if e != nil {
		if e.Complete, err = completer(in, names); err != nil {
			return err
		}
		defer func() { e.Complete = nil }()
	}
	console, err := in.CallMethod(m, "InteractiveConsole", names, vm.Str("<stdin>"))
	if err != nil {
		return err
	}
	read := in.NewModule("code", "").Func("raw_input", func(in *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		prompt := ""
		if len(args) > 0 {
			if prompt, err = in.Str(args[0]); err != nil {
				return nil, err
			}
		}
		line, err := nextLine(in, e, prompt)
		return vm.Str(line), err
	})
	if err := in.SetAttr(console, "raw_input", read); err != nil {
		return err
	}
	text := ""
	if banner {
		text = fmt.Sprintf("Python 3.11 (whittle) on %s, with PyTorch's interface as of 2.6\nType \"help\", \"copyright\", \"credits\" or \"license\" for more information.", runtime.GOOS)
	}
	_, err = in.CallMethod(console, "interact", vm.Str(text), vm.Str(""))
	return err
}

// nextLine reads a line for the prompt.
func nextLine(in *vm.Interp, e *Editor, prompt string) (string, error) {
	if err := in.Flush(); err != nil {
		return "", in.OSError(err, "")
	}
	if e != nil {
		return readLine(in, e, prompt)
	}
	if _, err := io.WriteString(in.Stderr, prompt); err != nil {
		return "", in.OSError(err, "")
	}
	line, err := in.StdinReader().ReadString('\n')
	if err == io.EOF && line == "" {
		return "", in.Errorf(in.Exc.EOFError, "")
	}
	if err != nil && err != io.EOF {
		return "", in.OSError(err, "")
	}
	return strings.TrimSuffix(line, "\n"), nil
}

// interruptible has Ctrl-C raise KeyboardInterrupt in what runs, each time.
func interruptible(in *vm.Interp) error {
	m, err := in.Import("signal")
	if err != nil {
		return err
	}
	handler, err := in.GetAttr(m, "default_int_handler")
	if err != nil {
		return err
	}
	_, err = in.CallMethod(m, "signal", vm.MakeInt(int64(syscall.SIGINT)), handler)
	return err
}

// completer completes names by rlcompleter.
func completer(in *vm.Interp, names vm.Object) (func(line string, pos int) (int, []string), error) {
	m, err := in.Import("rlcompleter")
	if err != nil {
		return nil, err
	}
	c, err := in.CallMethod(m, "Completer", names)
	if err != nil {
		return nil, err
	}
	return func(line string, pos int) (int, []string) {
		word := strings.TrimRightFunc(line[:pos], func(r rune) bool { return r == '.' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) })
		start := len(word)
		var words []string
		for state := int64(0); state < 1000; state++ {
			v, err := in.CallMethod(c, "complete", vm.Str(line[start:pos]), vm.MakeInt(state))
			if err != nil {
				return start, nil // an attribute that cannot be asked for has no completions
			}
			w, ok := vm.AsStr(v)
			if !ok {
				break
			}
			words = append(words, w)
		}
		return start, words
	}, nil
}
