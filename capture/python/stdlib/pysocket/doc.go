// Package pysocket is Python's module _socket, on which CPython's socket.py stands: the sockets of the system, with timeouts by poll.
package pysocket
