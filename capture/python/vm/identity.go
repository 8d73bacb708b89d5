package vm

import (
	"fmt"
	"unsafe"
)

// Identity gives an object a number for id() and the default hash. Embedders put it into Go types of their own; a type
// without it is known by its address, which differs from run to run.
type Identity struct{ id int64 }

func (i *Identity) identity() *int64 { return &i.id }

// Alias is an object that may stand for another, as what a trace has for one and the same tensor at different times: `is` and id() take them
// for one.
type Alias interface {
	// Identified is the object whose identity counts: the receiver where it stands for itself.
	Identified() Object
}

// The lowest bits of an identity are no part of the number. isAwaited marks an object whose end is awaited (see Finals); alarms counts how often it
// was taken to be gone, and was not.
const (
	isAwaited = 1
	oneAlarm  = 2
	alarms    = 6
	notNumber = isAwaited | alarms
)

// Identities hands out the numbers that id() shows. An object gets its number when it is first asked for, and the next object the next
// number: a program that is run again sees the same ones, which addresses would not give.
type Identities struct{ last int64 }

// firstIdentity and identityStep make the numbers look like CPython's addresses.
const (
	firstIdentity = 0x7f0000001000
	identityStep  = 48
)

// ID gives an object's identity as id() shows it. Integers and booleans have theirs by value, as equal ones may share their memory or not.
func (ids *Identities) ID(o Object) int64 {
	switch x := o.(type) {
	case Int:
		return 0x7e0000000000 + int64(x)*32
	case Bool:
		if x {
			return 0x955d00
		}
		return 0x955d20
	}
	if x, ok := o.(Alias); ok {
		o = x.Identified()
	}
	if x, ok := o.(interface{ identity() *int64 }); ok {
		p := x.identity()
		if *p&^notNumber == 0 {
			ids.last += identityStep
			*p |= ids.last
		}
		return *p &^ notNumber
	}
	return int64(uintptr((*iface)(unsafe.Pointer(&o)).data))
}

// addr is the identity as default reprs show it.
func (ids *Identities) addr(o Object) string { return fmt.Sprintf("0x%x", ids.ID(o)) }

// Addr is the identity as default reprs show it.
func (ids *Identities) Addr(o Object) string { return ids.addr(o) }
