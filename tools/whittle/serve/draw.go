package serve

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"whittle/capture/fx"
	"whittle/replay"
	"whittle/tools/whittle/layout"
)

const (
	nodesDrawn  = 16 // of one page of a drawing
	fewerDrawn  = 8  // of one page of a graph of more than longGraph nodes: reading it takes its time already
	longGraph   = 500
	graphText   = 4 << 20         // bytes of a graph that is still read
	layoutLimit = 5 * time.Second // of one page
	drawings    = 512             // that are kept: a graph of one hash never changes
	labelRunes  = 30              // of a node
)

// drawing is a page of a graph's nodes, in the graph's order, with lines for what they read. What they read of other pages stands in dashed boxes.
type drawing struct {
	Title         string
	Hash          string // "" where the graph has no page of its own
	Width, Height float64
	Boxes         []box
	Lines         []string // paths
	Rows          []nodeRow
	Page, Pages   int // from 1
	Nodes         int // of the whole graph
}

// box is a node as drawn. X and Y are its upper left corner, Width and Height in pixels.
type box struct {
	X, Y, Width, Height float64
	Name, Target, Class string
	Page                int // where the node is, of one that is not on this page; else 0
}

// TextX is the middle of the box.
func (b box) TextX() float64 { return b.X + b.Width/2 }

// nodeRow is a node as a line of the table under the drawing.
type nodeRow struct{ Name, Op, Target, Inputs string }

// An artist draws graphs, and keeps its drawings. Its methods may be called from many goroutines.
type artist struct {
	mu     sync.Mutex
	engine layout.Engine
	kept   map[string]*drawing
	read   map[string]readGraph // by hash of the text
}

type readGraph struct {
	nodes []*fx.Node
	err   error
}

// drawText draws a page of the graph in a text, a repro or a module. title says what it is, hash which graph of the store, if it is one.
func (a *artist) drawText(ctx context.Context, title, hash, text string, page int) (*drawing, error) {
	textKey := replay.HashOf(text)
	key := fmt.Sprint(textKey, " ", page)
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := ctx.Err(); err != nil { // the turn came too late
		return nil, err
	}
	d, ok := a.kept[key]
	if !ok {
		g, known := a.read[textKey]
		if !known {
			g.nodes, g.err = nodesOf(text)
			a.read = keep(a.read, textKey, g, 32)
		}
		if g.err != nil {
			return nil, g.err
		}
		var err error
		if d, err = a.draw(g.nodes, page); err != nil {
			return nil, err
		}
		a.kept = keep(a.kept, key, d, drawings)
	}
	own := *d
	own.Title, own.Hash = title, hash
	return &own, nil
}

// keep adds to a map of at most n things; a full one starts anew.
func keep[T any](m map[string]T, key string, v T, n int) map[string]T {
	if m == nil || len(m) >= n {
		m = map[string]T{}
	}
	m[key] = v
	return m
}

// nodesOf reads the graph of a text. A text that no reader was made for is an error, whatever the reader does.
func nodesOf(text string) (nodes []*fx.Node, err error) {
	if len(text) > graphText {
		return nil, fmt.Errorf("a graph of %d bytes is too long to be drawn", len(text))
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the graph cannot be read: %v", r)
		}
	}()
	gm, err := fx.Parse("graph", text)
	if err != nil {
		return nil, fmt.Errorf("the graph cannot be read: %w", err)
	}
	return gm.Graph.Nodes, nil
}

func (a *artist) draw(nodes []*fx.Node, page int) (*drawing, error) {
	each := nodesDrawn
	if len(nodes) > longGraph {
		each = fewerDrawn
	}
	d := &drawing{Nodes: len(nodes), Pages: max(1, (len(nodes)+each-1)/each)}
	d.Page = min(max(page, 1), d.Pages)
	from := (d.Page - 1) * each
	place := map[*fx.Node]int{}
	for i, n := range nodes {
		place[n] = i
	}
	var edges [][2]int
	at := map[*fx.Node]int{}
	add := func(n *fx.Node, class string, page int) int {
		if i, ok := at[n]; ok {
			return i
		}
		b := box{Name: shorten(n.Name), Target: shorten(n.Target), Class: class, Page: page, Height: 40}
		if page > 0 {
			b.Target = fmt.Sprintf("page %d", page)
		}
		b.Width = float64(max(len([]rune(b.Name)), len([]rune(b.Target)), 6))*7.2 + 18
		at[n] = len(d.Boxes)
		d.Boxes = append(d.Boxes, b)
		return at[n]
	}
	shown := nodes[from:min(from+each, len(nodes))]
	for _, n := range shown {
		add(n, string(n.Op), 0)
	}
	for _, n := range shown {
		var names []string
		for _, in := range n.Inputs() {
			names = append(names, in.Name)
			i := add(in, "elsewhere", place[in]/each+1)
			if e := [2]int{i, at[n]}; !slices.Contains(edges, e) {
				edges = append(edges, e)
			}
		}
		d.Rows = append(d.Rows, nodeRow{n.Name, string(n.Op), n.Target, strings.Join(names, ", ")})
	}
	return d, a.place(d, edges)
}

func shorten(text string) string {
	if r := []rune(text); len(r) > labelRunes {
		return string(r[:labelRunes-1]) + "…"
	}
	return text
}

// place finds out where the boxes and lines are.
func (a *artist) place(d *drawing, edges [][2]int) error {
	var sizes [][2]float64
	for _, b := range d.Boxes {
		sizes = append(sizes, [2]float64{b.Width, b.Height})
	}
	l, err := a.engine.Place(sizes, edges, layoutLimit)
	if err != nil {
		return err
	}
	d.Width, d.Height, d.Lines = l.Width, l.Height, l.Lines
	for i := range d.Boxes {
		d.Boxes[i].X, d.Boxes[i].Y = l.Boxes[i][0], l.Boxes[i][1]
	}
	return nil
}
