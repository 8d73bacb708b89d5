// Package serve shows a store as a site for the browser of the user who started it.
//
// Pages are made on the server from a replay.Reader, by html/template; they need no network, and no script but for copying a text and for following a
// search. Everything in a store came from outside: a program, an error, a graph. It is shown as text, and no character of it is hidden (see package look).
// Who may ask is decided in guard.go: programs of this machine, by the address of this server, and no page of another site.
//
// The places of a graph's nodes come from package layout; what is drawn there is ours. It mirrors nothing of PyTorch. It decides nothing about failures: see package replay.
package serve
