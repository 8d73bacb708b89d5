package aten

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// A Library is the operators that one program defined over PyTorch's own, which all programs share. Its owner is a session: the functions of
// its rows may hold an interpreter, and go with it. A nil Library has PyTorch's operators only. It is safe for concurrent use.
type Library struct {
	mu      sync.RWMutex
	ops     map[string]*Op   // by full name; over those of PyTorch
	packets map[string][]*Op // by "mylib::add", in the order of their definition
}

// Define adds an operator of the program, in place of an earlier definition of the same name. It needs Meta and Eager, or Decomp. What holds
// the earlier one, such as a compiled graph, goes on with it. Without an Effect it is pure beyond what its schema says that it writes to: PyTorch
// asks no program to say more.
func (l *Library) Define(op Op) (*Op, error) {
	s, err := ParseSchema(op.Schema)
	if err != nil {
		return nil, err
	}
	name := s.FullName()
	if op.Decomp == nil && (op.Meta == nil || op.Eager == nil) {
		return nil, fmt.Errorf("aten: %s has neither Decomp nor both Meta and Eager", name)
	}
	op.parsed, op.Library = s, l
	if op.Effect == UnknownEffect {
		op.Effect = Pure
	}
	op.facts = FactsOf(s, op.Effect)
	op.Tags |= tagsOf(op.facts, "")
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ops == nil {
		l.ops, l.packets = map[string]*Op{}, map[string][]*Op{}
	}
	p := s.Namespace + "::" + s.Name
	earlier := l.ops[name]
	l.packets[p] = append(slices.DeleteFunc(slices.Clone(l.packets[p]), func(o *Op) bool { return o == earlier }), &op)
	l.ops[name] = &op
	return &op, nil
}

// Lookup finds an overload as the function Lookup does, the program's own before PyTorch's.
func (l *Library) Lookup(name string) *Op {
	if l != nil {
		l.mu.RLock()
		op := l.ops[registered(name)]
		l.mu.RUnlock()
		if op != nil {
			return op
		}
	}
	return Lookup(name)
}

// Packet is all overloads of an operator: PyTorch's in the order in which it tries them, then the program's.
func (l *Library) Packet(ns, name string) []*Op {
	all := Packet(ns, name)
	if l == nil {
		return all
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	if len(l.packets) == 0 {
		return all
	}
	own := l.packets[ns+"::"+name]
	if len(own) == 0 {
		return all
	}
	all = slices.DeleteFunc(slices.Clone(all), func(o *Op) bool { return l.ops[o.FullName()] != nil })
	return append(all, own...)
}

// Remove takes back the definitions of an operator: all its overloads, or the one that name has behind a dot. What holds one goes on with it.
func (l *Library) Remove(ns, name string) {
	name, overload, one := strings.Cut(name, ".")
	l.mu.Lock()
	defer l.mu.Unlock()
	p := ns + "::" + name
	l.packets[p] = slices.DeleteFunc(slices.Clone(l.packets[p]), func(o *Op) bool {
		gone := !one || o.Sig().Overload == overload
		if gone {
			delete(l.ops, o.FullName())
		}
		return gone
	})
	if len(l.packets[p]) == 0 {
		delete(l.packets, p)
	}
}
