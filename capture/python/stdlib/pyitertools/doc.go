// Package pyitertools is Python's module itertools.
//
// module.go has the table of the iterators: each is a Go type that gives the next object, and may say how an equal one is made (__reduce__) and be
// put to a place (__setstate__). infinite.go, filters.go, join.go, combine.go, groupby.go and tee.go have the types by what they do.
package pyitertools
