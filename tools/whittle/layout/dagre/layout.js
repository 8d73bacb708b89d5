// layout places boxes: the text is JSON of {boxes: [[width, height], ...], edges: [[from, to], ...]} with places in the list of boxes.
// It gives JSON of {width, height, boxes: [[x, y], ...], edges: [[[x, y], ...], ...]}, x and y being middles.
//
// structuredClone is a function of browsers that dagre calls for labels, which are plain values here.
if (typeof structuredClone === "undefined") {
  globalThis.structuredClone = function copy(v) {
    if (Array.isArray(v)) { return v.map(copy); }
    if (v === null || typeof v !== "object") { return v; }
    var out = {};
    Object.keys(v).forEach(function (k) { out[k] = copy(v[k]); });
    return out;
  };
}

function layout(text) {
  var in_ = JSON.parse(text);
  var g = new dagre.graphlib.Graph({ multigraph: true });
  g.setGraph({ nodesep: 18, ranksep: 28, marginx: 6, marginy: 6 });
  in_.boxes.forEach(function (b, i) { g.setNode("n" + i, { width: b[0], height: b[1] }); });
  in_.edges.forEach(function (e, i) { g.setEdge("n" + e[0], "n" + e[1], {}, "e" + i); });
  dagre.layout(g, { disableOptimalOrderHeuristic: true }); // a third of the time, and some more crossings
  return JSON.stringify({
    width: g.graph().width, height: g.graph().height,
    boxes: in_.boxes.map(function (_, i) { var n = g.node("n" + i); return [n.x, n.y]; }),
    edges: in_.edges.map(function (e, i) {
      return g.edge("n" + e[0], "n" + e[1], "e" + i).points.map(function (p) { return [p.x, p.y]; });
    })
  });
}
