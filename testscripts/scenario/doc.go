// Package scenario runs *.txtar scenarios, which run the command in process or as a child of the test binary. Rewrite golden files with
// `go test ./testscripts/... -update`.
package scenario
