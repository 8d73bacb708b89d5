// Package files writes what whittle leaves on a user's disk, and never replaces what whittle did not write.
//
// A file that is handed out carries a seal: its last line (in JSON its last member) says what the file is about, and a hash of all that
// stands before it. A file whose seal fits was written by whittle and edited by nobody since, so a later result about the same thing may
// take its place. Whatever else lies at a path stays, and Put takes the next free name beside it: repro-2.py for repro.py. It says
// which name it took, and every caller tells the user.
//
// All writes are durable and atomic: a temporary file with a name of its own in the same folder, synced, then put in place. After a crash
// or on a full disk the file is there whole, or not at all.
package files
