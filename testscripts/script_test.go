// Package testscripts shows what users see of the command: each *.txtar is a scenario of its flags, files and messages. What programs print under
// it is in the folder programs.
package testscripts

import (
	"testing"

	"whittle/testscripts/scenario"
)

func TestMain(m *testing.M) { scenario.Main(m) }

func TestScripts(t *testing.T) { scenario.Run(t, "demo") }
