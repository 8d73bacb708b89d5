// Package build lets derivative formulas and decompositions be written as
// expressions over aten operators, on whichever dispatcher they run.
//
// A failing operator aborts the whole expression; Run turns that into an error.
package build
