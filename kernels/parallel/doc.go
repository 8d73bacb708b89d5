// Package parallel runs the parts of one operator on several threads.
package parallel
