package vm

import "strings"

// stream is a file of module sys.
func (in *Interp) stream(name string) (Object, error) {
	if sys, ok := in.Modules.GetStr("sys"); ok {
		if f, ok := sys.(*Module).Dict.GetStr(name); ok && f != None {
			return f, nil
		}
	}
	return nil, in.Errorf(in.Exc.RuntimeError, "input(): lost sys.%s", name)
}

// input is input(): it writes a prompt to sys.stdout and reads a line from sys.stdin.
func (in *Interp) input(prompt []Object) (Object, error) {
	stdin, err := in.stream("stdin")
	if err != nil {
		return nil, err
	}
	stdout, err := in.stream("stdout")
	if err != nil {
		return nil, err
	}
	text := ""
	if len(prompt) > 0 {
		if text, err = in.Str(prompt[0]); err != nil {
			return nil, err
		}
	}
	if in.ReadLine != nil && in.descriptor(stdin) == 0 && in.descriptor(stdout) == 1 {
		if _, err := in.CallMethod(stdout, "flush"); err != nil {
			return nil, err
		}
		line, err := in.ReadLine(text)
		return Str(line), err
	}
	if text != "" {
		if err := in.writeTo(stdout, text); err != nil {
			return nil, err
		}
	}
	if _, err := in.CallMethod(stdout, "flush"); err != nil {
		return nil, err
	}
	v, err := in.CallMethod(stdin, "readline")
	if err != nil {
		return nil, err
	}
	line, ok := AsStr(v)
	if !ok {
		return nil, in.Errorf(in.Exc.TypeError, "object.readline() returned non-string")
	}
	if line == "" {
		return nil, in.Errorf(in.Exc.EOFError, "EOF when reading a line")
	}
	return Str(strings.TrimSuffix(line, "\n")), nil
}

// descriptor is the number of the file behind a stream, -1 for none.
func (in *Interp) descriptor(stream Object) int64 {
	v, err := in.CallMethod(stream, "fileno")
	if err != nil {
		return -1
	}
	n, ok := AsInt(v)
	if !ok {
		return -1
	}
	return n
}
