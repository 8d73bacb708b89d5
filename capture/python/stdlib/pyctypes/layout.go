package pyctypes

import "whittle/capture/python/vm"

// kind is what sort of type of C a class is.
type kind int

const (
	simpleKind kind = iota
	arrayKind
	pointerKind
	recordKind // structures and unions
	functionKind
)

// layout is what a class says about the memory of its instances. It is the class's Native.
type layout struct {
	class *vm.Type
	kind  kind
	size  int // in bytes
	align int

	code     *code   // of a simple type
	swapped  bool    // the other byte order
	item     *layout // of an array; of a pointer, nil until it is known
	length   int     // of an array
	fields   []*field
	count    int  // how many values initialise a record: its fields and those of its bases
	final    bool // the fields are fixed: there are instances, or other types, that rely on them
	pointers bool // there are addresses inside, which mean nothing elsewhere
	args     []vm.Object
	hasArgs  bool
	result   vm.Object // of functions: _restype_
}

// layoutOf is what an object says about memory, if it is a class of ctypes that has instances.
func layoutOf(o vm.Object) *layout {
	t, ok := o.(*vm.Type)
	if !ok {
		return nil
	}
	l, _ := t.Native.(*layout)
	return l
}

// plain reports whether a simple type reads as a value of Python's: one of the classes themselves does, a subclass of theirs as an instance.
func (l *layout) plain(c *lib) bool {
	return l.kind == simpleKind && l.class.Bases[0] == c.simple
}

// letter is the code of a simple type, 0 for others.
func (l *layout) letter() byte {
	if l == nil || l.kind != simpleKind {
		return 0
	}
	return l.code.letter
}

// inherit is the layout for a class that derives from another of ctypes; nil if the class is one of the first.
func inherit(cls *vm.Type) *layout {
	for _, b := range cls.MRO[1:] {
		if from := layoutOf(b); from != nil {
			l := *from
			l.class = cls
			return &l
		}
	}
	return nil
}
