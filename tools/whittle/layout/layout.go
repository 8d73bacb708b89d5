package layout

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/dop251/goja"
)

// Dagre is the library, for a browser as for the engine here.
//
//go:embed dagre/dagre.min.js
var Dagre string

// Script is the function layout(text), which asks Dagre. Its text says what goes in and out.
//
//go:embed dagre/layout.js
var Script string

// A Layout is where boxes and lines are.
type Layout struct {
	Width, Height float64
	Boxes         [][2]float64 // the upper left corner of each
	Lines         []string     // of each edge, as an SVG path
}

// An Engine lays out graphs. The zero Engine is ready; it is not for several goroutines at a time.
type Engine struct {
	vm     *goja.Runtime // nil until the first layout
	layout goja.Callable
}

// Place lays out boxes of the given widths and heights. Edges are pairs of places in the list of boxes. It is an error if it takes longer than limit.
func (e *Engine) Place(boxes [][2]float64, edges [][2]int, limit time.Duration) (*Layout, error) {
	if err := e.Start(); err != nil {
		return nil, err
	}
	in := struct {
		Boxes [][2]float64 `json:"boxes"`
		Edges [][2]int     `json:"edges"`
	}{append([][2]float64{}, boxes...), append([][2]int{}, edges...)}
	text, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	stop := time.AfterFunc(limit, func() { e.vm.Interrupt("the graph takes too long to be drawn") })
	v, err := e.layout(goja.Undefined(), e.vm.ToValue(string(text)))
	stop.Stop()
	e.vm.ClearInterrupt()
	if err != nil {
		return nil, fmt.Errorf("the graph cannot be laid out: %w", err)
	}
	var out struct {
		Width, Height float64
		Boxes         [][2]float64
		Edges         [][][2]float64
	}
	if err := json.Unmarshal([]byte(v.String()), &out); err != nil {
		return nil, fmt.Errorf("the graph cannot be laid out: %w", err)
	}
	if len(out.Boxes) != len(boxes) || len(out.Edges) != len(edges) {
		return nil, errors.New("the graph cannot be laid out: the layout has other nodes")
	}
	l := &Layout{Width: out.Width, Height: out.Height}
	for i, b := range out.Boxes {
		l.Boxes = append(l.Boxes, [2]float64{b[0] - boxes[i][0]/2, b[1] - boxes[i][1]/2})
	}
	for _, e := range out.Edges {
		var path strings.Builder
		for i, p := range e {
			fmt.Fprintf(&path, "%c%.1f,%.1f", "ML"[min(i, 1)], p[0], p[1])
		}
		l.Lines = append(l.Lines, path.String())
	}
	return l, nil
}

// Start makes the engine ready, so that the first layout does not wait for it.
func (e *Engine) Start() error {
	if e.vm != nil {
		return nil
	}
	vm := goja.New()
	for _, js := range [][2]string{{"dagre.min.js", Dagre}, {"layout.js", Script}} {
		if _, err := vm.RunScript(js[0], js[1]); err != nil {
			return fmt.Errorf("dagre: %w", err)
		}
	}
	f, ok := goja.AssertFunction(vm.Get("layout"))
	if !ok {
		return errors.New("dagre: no layout")
	}
	e.vm, e.layout = vm, f
	return nil
}
