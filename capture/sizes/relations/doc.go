// Package relations says, for each operator, which sizes its results have and which sizes among its arguments must agree.
//
// A [Rule] is written once, over sizes of an unknown kind: it adds and multiplies them and asks whether two are equal. What an answer
// means is its caller's affair, who gives the sizes as [Sizes] and the call's arguments as [Call]. Capture's sizes are symbolic
// expressions, and an answer becomes a guard; the minifier's are products of variables, and sizes that are found to be equal become one
// variable, so that a graph can be given smaller sizes; with plain numbers a rule is a shape function.
//
// A rule may assume that the operator has accepted its arguments, and it may be silent: its callers compare what it says with the
// sizes that the operator's meta function computed, and have other ways to explain those. The package traces nothing and knows no graph.
package relations
