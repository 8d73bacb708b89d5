package stack

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"testing"

	"whittle/lowering"
)

// TestDiagram draws more units than are laid out together, with names that are no XML.
func TestDiagram(t *testing.T) {
	var units []lowering.Scheduled
	for i := range diagramPiece + 3 {
		u := lowering.Scheduled{Name: fmt.Sprintf("op%d", i), Buffer: []string{fmt.Sprintf("buf%d", i)}, Kind: "pointwise", Nodes: []string{"<lambda>", "a&b"}}
		if i > 0 {
			u.Reads = []string{fmt.Sprintf("buf%d", i-1)}
		}
		units = append(units, u)
	}
	text, err := diagram(units)
	if err != nil {
		t.Fatal(err)
	}
	boxes := map[string]int{}
	arrows := 0
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		tok, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if e, ok := tok.(xml.StartElement); ok {
			for _, a := range e.Attr {
				switch a.Name.Local {
				case "class":
					boxes[a.Value]++
				case "marker-end":
					arrows++
				}
			}
		}
	}
	if boxes["kernel"] != len(units) || boxes["elsewhere"] != 1 || arrows != len(units)-1 {
		t.Errorf("%v and %d arrows for %d units in a row", boxes, arrows, len(units))
	}
	if !strings.Contains(text, "&lt;lambda&gt;, a&amp;b") {
		t.Error("the names of nodes are not shown")
	}
}
