// Package torch runs repros in a real PyTorch.
//
// Its Engine is the client of the Python program in far/, which it feeds to any command that starts a Python with torch; nothing is
// installed there, and no path has to exist on both sides. Questions and answers are JSON in frames (see frame.go and far/wire.py). The Python
// imports torch once and forks a child for each question, so that a query costs what the compiler costs, and a crash costs a child. A Host keeps such a
// Python for one client after another.
package torch
