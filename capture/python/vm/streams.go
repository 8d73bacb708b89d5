package vm

import (
	"bufio"
	"io"
)

// Streams are the standard streams of an interpreter. An embedder may put others in their place until the first read or write; from then on
// the buffers stand between: what print writes reaches Stdout with Flush or when the buffer is full. Stderr is never buffered.
type Streams struct {
	Stdin  io.Reader
	Stdout io.Writer // looked up at every write of the buffer, so that it may change while a script runs
	Stderr io.Writer
	// ReadLine reads a line for input() from a person, who may edit it, and raises EOFError or KeyboardInterrupt; nil => input() reads Stdin.
	ReadLine func(prompt string) (string, error)

	in  *bufio.Reader // over Stdin, once something has read
	out *bufio.Writer // over Stdout, once something was written
}

// StdinReader is the buffered standard input that input() and sys.stdin share.
func (s *Streams) StdinReader() *bufio.Reader {
	if s.in == nil {
		s.in = bufio.NewReader(s.Stdin)
	}
	return s.in
}

// write puts text into the buffer of the standard output.
func (s *Streams) write(text string) error {
	if s.out == nil {
		s.out = bufio.NewWriterSize(writerFunc(func(p []byte) (int, error) { return s.Stdout.Write(p) }), 8192)
	}
	_, err := s.out.WriteString(text)
	return err
}

// Flush passes on to Stdout what print has written. Its error is that of Stdout.
func (s *Streams) Flush() error {
	if s.out == nil {
		return nil
	}
	return s.out.Flush()
}

// writerFunc is a function as a writer.
type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// Write writes to the interpreter's standard output; a failure is raised as OSError.
func (in *Interp) Write(s string) error {
	if err := in.write(s); err != nil {
		return in.OSError(err, "")
	}
	return nil
}

// StdoutWriter is what sys.stdout writes to: the same buffer as print.
func (in *Interp) StdoutWriter() interface {
	Write(p []byte) (int, error)
	Flush() error
} {
	return stdoutWriter{in}
}

// stdoutWriter is the interpreter's standard output as a writer.
type stdoutWriter struct{ in *Interp }

func (w stdoutWriter) Write(p []byte) (int, error) {
	if err := w.in.Write(string(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (w stdoutWriter) Flush() error { return w.in.Flush() }

// StdoutKey is the Ext key under which the sys module keeps the original sys.stdout, for print to bypass it.
type StdoutKey struct{}
