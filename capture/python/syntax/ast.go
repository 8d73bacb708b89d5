package syntax

import (
	"fmt"
	"math/big"
)

// Span says where a node stands. Lines count from 1; columns are byte offsets from 0, as in CPython's ast.
type Span struct{ Line, Col, EndLine, EndCol int32 }

// Pos returns the span itself, so that every node that embeds Span has it.
func (s Span) Pos() Span { return s }

// Node is anything with a position.
type Node interface{ Pos() Span }

// Expr is an expression; Stmt a statement; Pattern a pattern of a match statement.
type (
	Expr interface {
		Node
		expr()
	}
	Stmt interface {
		Node
		stmt()
	}
	Pattern interface {
		Node
		pattern()
	}
)

type exprNode struct{ Span }
type stmtNode struct{ Span }
type patNode struct{ Span }

func (exprNode) expr()   {}
func (stmtNode) stmt()   {}
func (patNode) pattern() {}

// File is one parsed source file.
type File struct {
	Filename string
	Source   string
	Body     []Stmt
	Future   map[string]bool // names imported from __future__
	// FutureLine is the line of the last of those imports: they may not follow anything else.
	FutureLine int
	Warnings   []Warning
}

// Warning is what is right and yet looks like a mistake.
type Warning struct {
	Span
	Deprecated bool // a DeprecationWarning; else a SyntaxWarning
	Text       string
}

// Warn adds a warning.
func (f *File) Warn(at Span, format string, args ...any) {
	f.Warnings = append(f.Warnings, Warning{Span: at, Text: fmt.Sprintf(format, args...)})
}

// Bytes is the value of a bytes literal; EllipsisValue that of `...`.
type (
	Bytes         string
	EllipsisValue struct{}
)

// Constant values are nil, bool, int64, *big.Int, float64, complex128, string, Bytes and EllipsisValue.
var _ any = (*big.Int)(nil)

// Expressions, named as in CPython's ast module.
type (
	Constant struct {
		exprNode
		Value any
	}
	Name struct {
		exprNode
		Id string
	}
	Attribute struct {
		exprNode
		Value Expr
		Attr  string
	}
	Subscript struct {
		exprNode
		Value Expr
		Index Expr
	}
	SliceExpr struct {
		exprNode
		Lower, Upper, Step Expr // nil where absent
	}
	Keyword struct {
		Span
		Arg   string // "" for **value
		Value Expr
	}
	Call struct {
		exprNode
		Func     Expr
		Args     []Expr
		Keywords []*Keyword
	}
	BinOp struct {
		exprNode
		Left  Expr
		Op    string // "+", "//", "@", ...
		Right Expr
	}
	UnaryOp struct {
		exprNode
		Op      string // "+", "-", "~", "not"
		Operand Expr
	}
	BoolOp struct {
		exprNode
		Op     string // "and", "or"
		Values []Expr
	}
	Compare struct {
		exprNode
		Left        Expr
		Ops         []string // "<", "is not", "not in", ...
		Comparators []Expr
	}
	IfExp struct {
		exprNode
		Test, Body, Else Expr
	}
	Lambda struct {
		exprNode
		Args *Arguments
		Body Expr
	}
	NamedExpr struct {
		exprNode
		Target *Name
		Value  Expr
	}
	Tuple struct {
		exprNode
		Elts []Expr
	}
	List struct {
		exprNode
		Elts []Expr
	}
	Set struct {
		exprNode
		Elts []Expr
	}
	Dict struct {
		exprNode
		Keys   []Expr // nil for **value
		Values []Expr
	}
	Comprehension struct {
		Target Expr
		Iter   Expr
		Ifs    []Expr
		Async  bool
	}
	ListComp struct {
		exprNode
		Elt        Expr
		Generators []*Comprehension
	}
	SetComp struct {
		exprNode
		Elt        Expr
		Generators []*Comprehension
	}
	GeneratorExp struct {
		exprNode
		Elt        Expr
		Generators []*Comprehension
	}
	DictComp struct {
		exprNode
		Key, Value Expr
		Generators []*Comprehension
	}
	Starred struct {
		exprNode
		Value Expr
	}
	Yield struct {
		exprNode
		Value Expr // nil where absent
	}
	YieldFrom struct {
		exprNode
		Value Expr
	}
	Await struct {
		exprNode
		Value Expr
	}
	JoinedStr struct {
		exprNode
		Values []Expr // string Constants and FormattedValues
	}
	FormattedValue struct {
		exprNode
		Value      Expr
		Conversion byte // 0, 's', 'r', 'a'
		Spec       Expr // nil where absent
	}
)

// Arg is one parameter.
type Arg struct {
	Span
	Name       string
	Annotation Expr // nil where absent
}

// Arguments is a parameter list. Defaults belong to the last of PosOnly+Args, KwDefaults to KwOnly (nil where absent).
type Arguments struct {
	PosOnly, Args []*Arg
	Vararg        *Arg
	KwOnly        []*Arg
	KwDefaults    []Expr
	Kwarg         *Arg
	Defaults      []Expr
}

// Statements, named as in CPython's ast module; those that may be async have a field for it instead of a class of their own.
type (
	FunctionDef struct {
		stmtNode
		Name       string
		Args       *Arguments
		Body       []Stmt
		Decorators []Expr
		Returns    Expr
		Async      bool
	}
	ClassDef struct {
		stmtNode
		Name       string
		Bases      []Expr
		Keywords   []*Keyword
		Body       []Stmt
		Decorators []Expr
	}
	Return struct {
		stmtNode
		Value Expr
	}
	Delete struct {
		stmtNode
		Targets []Expr
	}
	Assign struct {
		stmtNode
		Targets []Expr
		Value   Expr
	}
	AugAssign struct {
		stmtNode
		Target Expr
		Op     string // "+", ...
		Value  Expr
	}
	AnnAssign struct {
		stmtNode
		Target     Expr
		Annotation Expr
		Value      Expr // nil where absent
		Simple     bool // a bare name
	}
	For struct {
		stmtNode
		Target     Expr
		Iter       Expr
		Body, Else []Stmt
		Async      bool
	}
	While struct {
		stmtNode
		Test       Expr
		Body, Else []Stmt
	}
	If struct {
		stmtNode
		Test       Expr
		Body, Else []Stmt
	}
	WithItem struct {
		Context Expr
		Vars    Expr // nil where absent
	}
	With struct {
		stmtNode
		Items []*WithItem
		Body  []Stmt
		Async bool
	}
	Raise struct {
		stmtNode
		Exc, Cause Expr
	}
	ExceptHandler struct {
		Span
		Type Expr
		Name string
		Body []Stmt
	}
	Try struct {
		stmtNode
		Body     []Stmt
		Handlers []*ExceptHandler
		Else     []Stmt
		Final    []Stmt
		Star     bool
	}
	Assert struct {
		stmtNode
		Test, Msg Expr
	}
	Alias struct {
		Span
		Name, AsName string
	}
	Import struct {
		stmtNode
		Names []*Alias
	}
	ImportFrom struct {
		stmtNode
		Module string
		Names  []*Alias
		Level  int
	}
	Global struct {
		stmtNode
		Names []string
	}
	Nonlocal struct {
		stmtNode
		Names []string
	}
	ExprStmt struct {
		stmtNode
		Value Expr
	}
	Pass     struct{ stmtNode }
	Break    struct{ stmtNode }
	Continue struct{ stmtNode }
	Match    struct {
		stmtNode
		Subject Expr
		Cases   []*MatchCase
	}
	MatchCase struct {
		Pattern Pattern
		Guard   Expr
		Body    []Stmt
	}
)

// Patterns, named as in CPython's ast module.
type (
	MatchValue struct {
		patNode
		Value Expr
	}
	MatchSingleton struct {
		patNode
		Value any
	}
	MatchSequence struct {
		patNode
		Patterns []Pattern
	}
	MatchMapping struct {
		patNode
		Keys     []Expr
		Patterns []Pattern
		Rest     string
		HasRest  bool
	}
	MatchClass struct {
		patNode
		Cls         Expr
		Patterns    []Pattern
		KwdAttrs    []string
		KwdPatterns []Pattern
	}
	MatchStar struct {
		patNode
		Name string // "" for _
	}
	MatchAs struct {
		patNode
		Pattern Pattern // nil: capture, or wildcard without a name
		Name    string
	}
	MatchOr struct {
		patNode
		Patterns []Pattern
	}
)
