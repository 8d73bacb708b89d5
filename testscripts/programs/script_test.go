// Package programs shows what PyTorch programs print under whittle. Most of the *.txtar were recorded from PyTorch 2.6, as their first lines say.
package programs

import (
	"testing"

	"whittle/testscripts/scenario"
)

func TestMain(m *testing.M) { scenario.Main(m) }

func TestScripts(t *testing.T) { scenario.Run(t, "../demo") }
