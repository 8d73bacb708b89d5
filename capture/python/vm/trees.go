package vm

import "whittle/capture/python/code"

// Trees are how module _ast, which stands above this package, takes part in compile, exec and eval.
type Trees struct {
	// ParseTree gives the syntax tree of a text; mode is exec, eval or single.
	ParseTree func(filename, src, mode string) (Object, error)
	// CompileTree compiles a syntax tree; ok says whether the object is one.
	CompileTree func(level code.Optimize, tree Object, filename, mode string) (c *Code, ok bool, err error)
}

// onlyTree is the flag of compile that wants a tree: ast.PyCF_ONLY_AST.
const onlyTree = 0x400

// compileFlags are all that compile knows: those of the future statements, CO_NESTED, which means nothing any more, and PyCF_DONT_IMPLY_DEDENT,
// ONLY_AST, TYPE_COMMENTS, ALLOW_TOP_LEVEL_AWAIT and ALLOW_INCOMPLETE_INPUT.
const compileFlags = 0x1fe0000 | 0x10 | dontImplyDedent | onlyTree | 0x1000 | 0x2000 | allowIncomplete

// The flags of compile for what a person is typing, as codeop has them.
const (
	dontImplyDedent = 0x200
	allowIncomplete = 0x4000
)

// SyntaxError raises what the parser or the compiler has reported.
func (in *Interp) SyntaxError(err error) error { return syntaxError(in, err) }

// tree is compile with PyCF_ONLY_AST.
func (in *Interp) tree(filename, src, mode string) (Object, error) {
	if in.ParseTree == nil {
		if _, err := in.Import("_ast"); err != nil {
			return nil, err
		}
	}
	return in.ParseTree(filename, src, mode)
}
