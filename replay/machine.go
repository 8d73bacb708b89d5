package replay

import (
	"regexp"
	"slices"
	"strings"
)

// MachineError says that the machine lacks what any graph needs: a compiler, space, memory, a permission. No smaller graph tells more about it.
type MachineError struct {
	Why  string // what is wrong, in a few words
	Said string // who said so, in its own words: one line
}

func (e *MachineError) Error() string {
	return "not a failure of the graph, but of the machine: " + e.Why + " (" + e.Said + ")"
}

// machineTypes are the exceptions that may tell of the machine. Others may quote the same words and mean something else.
var machineTypes = []string{"OSError", "PermissionError", "FileNotFoundError", "BlockingIOError", "InvalidCxxCompiler", "CppCompileError", "CalledProcessError"}

// machineFaults are what the operating system, a compiler or a linker says, and what that means.
var machineFaults = []struct {
	said *regexp.Regexp
	why  string
}{
	{regexp.MustCompile(`(?i)no space left on device`), "no space is left on a disk"},
	{regexp.MustCompile(`(?i)disk quota exceeded`), "the disk quota is used up"},
	{regexp.MustCompile(`(?i)file too large|file size limit exceeded`), "files may not get that large (ulimit -f)"},
	{regexp.MustCompile(`(?i)read-only file system`), "a file system is read-only"},
	{regexp.MustCompile(`(?i)permission denied|operation not permitted`), "a permission is missing"},
	{regexp.MustCompile(`(?i)too many open files`), "too many files are open (ulimit -n)"},
	{regexp.MustCompile(`(?i)cannot allocate memory|virtual memory exhausted|cc1plus: out of memory|killed signal terminated program|resource temporarily unavailable`), "there is not enough memory, or there are too many processes"},
	{regexp.MustCompile(`(?i)no (working )?c\+\+ compiler found|no such file or directory: '[^']*(\+\+|cc|clang)[-.\d]*'|cannot execute ['‘]?cc1plus`), "there is no C++ compiler"},
	// The words are Go's: a file of whittle's own could not be made.
	{regexp.MustCompile(`^(mkdir|open|create|rename|link|fork/exec|write|sync) [^:]+: `), "a file of whittle's own cannot be made"},
	{regexp.MustCompile(`fatal error: .*(: No such file or directory|file not found)|cannot find -l|unable to find library -l`), "the C++ compiler lacks a header or a library"},
}

// MachineFault says what is wrong with the machine, by the type and the text of an exception; nil where the exception is about the graph.
func MachineFault(typ, text string) *MachineError {
	if !slices.Contains(machineTypes, typ[strings.LastIndex(typ, ".")+1:]) {
		return nil
	}
	for _, f := range machineFaults {
		at := f.said.FindStringIndex(text)
		if at == nil {
			continue
		}
		begin := strings.LastIndexByte(text[:at[0]], '\n') + 1
		line, _, _ := strings.Cut(text[begin:], "\n")
		return &MachineError{Why: f.why, Said: strings.TrimSpace(line)}
	}
	return nil
}
