package syntax

// The concrete tree comes from the tree-sitter grammar. The Go binding crosses into C once or
// more per node; here one call parses and copies the whole tree into a flat array.

/*
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <stdbool.h>

typedef uint16_t TSSymbol;
typedef uint16_t TSFieldId;
typedef struct TSLanguage TSLanguage;
typedef struct TSParser TSParser;
typedef struct TSTree TSTree;
typedef struct { uint32_t row; uint32_t column; } TSPoint;
typedef struct { uint32_t context[4]; const void *id; const TSTree *tree; } TSNode;
typedef struct { const void *tree; const void *id; uint32_t context[3]; uint32_t pad[5]; } TSTreeCursor;

extern TSParser *ts_parser_new(void);
extern void ts_parser_delete(TSParser *);
extern bool ts_parser_set_language(TSParser *, const TSLanguage *);
extern TSTree *ts_parser_parse_string(TSParser *, const TSTree *, const char *, uint32_t);
extern void ts_tree_delete(TSTree *);
extern TSNode ts_tree_root_node(const TSTree *);
extern TSSymbol ts_node_symbol(TSNode);
extern uint32_t ts_node_start_byte(TSNode);
extern uint32_t ts_node_end_byte(TSNode);
extern TSPoint ts_node_start_point(TSNode);
extern TSPoint ts_node_end_point(TSNode);
extern bool ts_node_is_named(TSNode);
extern bool ts_node_is_missing(TSNode);
extern bool ts_node_has_error(TSNode);
extern TSTreeCursor ts_tree_cursor_new(TSNode);
extern void ts_tree_cursor_delete(TSTreeCursor *);
extern TSNode ts_tree_cursor_current_node(const TSTreeCursor *);
extern TSFieldId ts_tree_cursor_current_field_id(const TSTreeCursor *);
extern bool ts_tree_cursor_goto_first_child(TSTreeCursor *);
extern bool ts_tree_cursor_goto_next_sibling(TSTreeCursor *);
extern bool ts_tree_cursor_goto_parent(TSTreeCursor *);
extern uint32_t ts_language_symbol_count(const TSLanguage *);
extern const char *ts_language_symbol_name(const TSLanguage *, TSSymbol);
extern uint32_t ts_language_field_count(const TSLanguage *);
extern const char *ts_language_field_name_for_id(const TSLanguage *, TSFieldId);
extern const TSLanguage *tree_sitter_python(void);

typedef struct {
	uint32_t start, end, srow, scol, erow, ecol, kids;
	uint16_t sym, field;
	uint8_t named, missing, err, depthpad;
} whnode;

static uint32_t wh_parse(const char *src, uint32_t len, whnode **out) {
	TSParser *p = ts_parser_new();
	ts_parser_set_language(p, tree_sitter_python());
	TSTree *t = ts_parser_parse_string(p, 0, src, len);
	if (!t) { ts_parser_delete(p); *out = 0; return 0; }
	uint32_t n = 0, cap = 256;
	whnode *a = malloc(cap * sizeof *a);
	uint32_t dcap = 64, depth = 0;
	uint32_t *path = malloc(dcap * sizeof *path);
	TSTreeCursor c = ts_tree_cursor_new(ts_tree_root_node(t));
	for (;;) {
		TSNode nd = ts_tree_cursor_current_node(&c);
		if (n == cap) { cap *= 2; a = realloc(a, cap * sizeof *a); }
		whnode *w = &a[n];
		TSPoint s = ts_node_start_point(nd), e = ts_node_end_point(nd);
		w->start = ts_node_start_byte(nd); w->end = ts_node_end_byte(nd);
		w->srow = s.row; w->scol = s.column; w->erow = e.row; w->ecol = e.column;
		w->sym = ts_node_symbol(nd); w->field = ts_tree_cursor_current_field_id(&c);
		w->named = ts_node_is_named(nd); w->missing = ts_node_is_missing(nd); w->err = ts_node_has_error(nd);
		w->kids = 0; w->depthpad = 0;
		if (depth) a[path[depth-1]].kids++;
		if (ts_tree_cursor_goto_first_child(&c)) {
			if (depth == dcap) { dcap *= 2; path = realloc(path, dcap * sizeof *path); }
			path[depth++] = n++;
			continue;
		}
		n++;
		bool done = false;
		while (!ts_tree_cursor_goto_next_sibling(&c)) {
			if (!ts_tree_cursor_goto_parent(&c)) { done = true; break; }
			depth--;
		}
		if (done) break;
	}
	ts_tree_cursor_delete(&c);
	free(path);
	ts_tree_delete(t);
	ts_parser_delete(p);
	*out = a;
	return n;
}
*/
import "C"

import (
	"strings"
	"sync"
	"unsafe"

	_ "github.com/smacker/go-tree-sitter"        // the tree-sitter runtime
	_ "github.com/smacker/go-tree-sitter/python" // the Python grammar
)

// cst is one node of the concrete tree.
type cst struct {
	kind    string
	field   string
	start   int // byte offsets
	end     int
	span    Span
	named   bool
	missing bool
	err     bool // this node or one below it is wrong
	kids    []*cst
}

var grammar struct {
	once   sync.Once
	syms   []string
	fields []string
}

// loadGrammar makes the grammar's tables ready once.
func loadGrammar() {
	lang := C.tree_sitter_python()
	n := int(C.ts_language_symbol_count(lang))
	grammar.syms = make([]string, n)
	for i := range n {
		grammar.syms[i] = C.GoString(C.ts_language_symbol_name(lang, C.TSSymbol(i)))
	}
	m := int(C.ts_language_field_count(lang))
	grammar.fields = make([]string, m+1)
	for i := 1; i <= m; i++ {
		grammar.fields[i] = C.GoString(C.ts_language_field_name_for_id(lang, C.TSFieldId(i)))
	}
}

// parseTree returns the concrete tree of src; nil when tree-sitter gives none. The grammar knows type statements, which came after 3.11: what
// begins with a call of type looks like one to it, so there it gets to see another name, of the same length.
func parseTree(src string) *cst {
	root := parseAny(src)
	var aliases []int
	var find func(c *cst)
	find = func(c *cst) {
		if c.kind == "type_alias_statement" {
			aliases = append(aliases, c.start)
		}
		for _, k := range c.kids {
			find(k)
		}
	}
	if root == nil || !strings.Contains(src, "type") {
		return root
	}
	if find(root); aliases == nil {
		return root
	}
	masked := []byte(src)
	for _, i := range aliases {
		copy(masked[i:], "kind")
	}
	return parseAny(string(masked))
}

// parseAny is parseTree for a text without such calls.
func parseAny(src string) *cst {
	grammar.once.Do(loadGrammar)
	if len(src) == 0 {
		return &cst{kind: "module"}
	}
	var out *C.whnode
	buf := []byte(src)
	n := C.wh_parse((*C.char)(unsafe.Pointer(&buf[0])), C.uint32_t(len(buf)), &out)
	if out == nil {
		return nil
	}
	defer C.free(unsafe.Pointer(out))
	flat := unsafe.Slice(out, int(n))
	nodes := make([]cst, n)
	kids := make([]*cst, 0, n)
	type open struct{ node, left int }
	var stack []open
	for i := range flat {
		w := &flat[i]
		nd := &nodes[i]
		if int(w.sym) < len(grammar.syms) {
			nd.kind = grammar.syms[w.sym]
		} else {
			nd.kind = "ERROR"
		}
		if int(w.field) < len(grammar.fields) {
			nd.field = grammar.fields[w.field]
		}
		nd.start, nd.end = int(w.start), int(w.end)
		nd.span = Span{int32(w.srow) + 1, int32(w.scol), int32(w.erow) + 1, int32(w.ecol)}
		nd.named, nd.missing, nd.err = w.named != 0, w.missing != 0, w.err != 0
		if len(stack) > 0 {
			top := &stack[len(stack)-1]
			p := &nodes[top.node]
			if nd.kind != "comment" && nd.kind != "line_continuation" {
				p.kids = append(p.kids, nd)
			}
			top.left--
		}
		if w.kids > 0 {
			base := len(kids)
			kids = kids[:base+int(w.kids)]
			nd.kids = kids[base:base:len(kids)]
			stack = append(stack, open{i, int(w.kids)})
		}
		for len(stack) > 0 && stack[len(stack)-1].left == 0 {
			stack = stack[:len(stack)-1]
		}
	}
	return &nodes[0]
}
