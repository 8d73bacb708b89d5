// Package pystruct is Python's module _struct: values to bytes and back, by a format.
//
// A format becomes a layout (layout.go): runs of items, each with a row of the table of codes (codes.go), which packs and unpacks one item.
// class.go has Struct, and module.go the functions, which are those of a Struct that is kept by its format.
package pystruct
