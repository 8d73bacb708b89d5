package repros

import (
	"fmt"
	"strings"

	"whittle/capture/python/code"
	"whittle/capture/python/syntax"
)

// SliceSource is the part of a module that defines name: its statement and, transitively, the top-level statements
// that bind what those read. Names that nobody binds are builtins.
func SliceSource(file, text, name string) (string, error) {
	mod, err := syntax.Parse(file, text)
	if err != nil {
		return "", err
	}
	lines := strings.Split(text, "\n")
	type statement struct {
		text        string
		binds, uses map[string]bool
		keep        bool
	}
	var stmts []*statement
	end := 0 // of the statement before, a line number
	for _, s := range mod.Body {
		sp := s.Pos()
		start := int(sp.Line)
		for i := end + 1; i < start; i++ { // decorators stand in front of what they decorate
			if strings.HasPrefix(lines[i-1], "@") {
				start = i
			}
		}
		end = max(end, int(sp.EndLine))
		st := &statement{text: strings.Join(lines[start-1:sp.EndLine], "\n"), binds: map[string]bool{}, uses: map[string]bool{}}
		c, err := code.CompileSource(file, st.text+"\n", code.Exec)
		if err != nil {
			return "", fmt.Errorf("line %d cannot stand alone: %w", sp.Line, err)
		}
		globalNames(c, true, st.binds, st.uses)
		stmts = append(stmts, st)
	}
	need := []string{name}
	found := false
	seen := map[string]bool{name: true}
	for len(need) > 0 {
		n := need[0]
		need = need[1:]
		for _, st := range stmts {
			if !st.binds[n] || st.keep {
				continue
			}
			st.keep, found = true, true
			for u := range st.uses {
				if !seen[u] {
					seen[u] = true
					need = append(need, u)
				}
			}
		}
	}
	if !found {
		return "", fmt.Errorf("%s does not define %s at its top level", file, name)
	}
	var b strings.Builder
	for _, st := range stmts {
		if st.keep {
			b.WriteString(st.text + "\n")
		}
	}
	return b.String(), nil
}

// globalNames collects the module-level names that code binds (top only) and reads, nested functions included.
func globalNames(c *code.Code, top bool, binds, uses map[string]bool) {
	for _, in := range c.Instrs {
		switch in.Op {
		case code.STORE_NAME:
			if top {
				binds[c.Names[in.Arg]] = true
			}
		case code.LOAD_NAME:
			uses[c.Names[in.Arg]] = true
		case code.LOAD_GLOBAL:
			uses[c.Names[in.Arg>>1]] = true
		}
	}
	for _, k := range c.Consts {
		if n, ok := k.(*code.Code); ok {
			globalNames(n, false, binds, uses)
		}
	}
}
