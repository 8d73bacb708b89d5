// The report's own script: it shows one compilation at a time, from the compressed JSON that stands behind the page. Every text of a trace goes through
// text(), which makes characters visible that would not be, and into the page as text.
(function () {
  "use strict";

  var view = document.getElementById("view"), overview = document.getElementById("overview");
  var graphPage = 150; // nodes that are drawn at once
  var longText = 4000; // lines that are shown at once

  // ---- texts and elements ----

  var hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u115f\u1160\u3164\uffa0]|[\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Variation_Selector}\p{Noncharacter_Code_Point}]/gu;
  function text(s) {
    return String(s).replace(hidden, function (c) { return "⟨U+" + c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0") + "⟩"; });
  }
  var svgNames = ["svg", "g", "rect", "path", "defs", "marker"];
  function el(tag, attrs) {
    var svg = svgNames.indexOf(tag) >= 0 || attrs && attrs.svg;
    var e = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    Object.keys(attrs || {}).forEach(function (k) {
      var v = attrs[k];
      if (v === undefined || v === null || v === false || k === "svg") { return; }
      if (k.slice(0, 2) === "on") { e.addEventListener(k.slice(2), v); } else { e.setAttribute(k, v === true ? "" : text(v)); }
    });
    for (var i = 2; i < arguments.length; i++) { add(e, arguments[i]); }
    return e;
  }
  function add(e, child) {
    if (child === undefined || child === null || child === false || child === "") { return; }
    if (Array.isArray(child)) { child.forEach(function (c) { add(e, c); }); return; }
    e.appendChild(child instanceof Node ? child : document.createTextNode(text(child)));
  }
  function many(n, one) { return n + " " + one + (n === 1 ? "" : "s"); }
  function bytes(n) {
    if (n < 0) { return "size not known"; }
    if (n < 1024) { return n + " bytes"; }
    var units = ["KiB", "MiB", "GiB", "TiB"], i = -1;
    do { n /= 1024; i++; } while (n >= 1024 && i < 3);
    return n.toFixed(1) + " " + units[i];
  }
  function took(us) {
    if (us < 1000) { return us.toFixed(0) + " µs"; }
    if (us < 1e6) { return (us / 1e3).toPrecision(3) + " ms"; }
    if (us < 6e7) { return (us / 1e6).toPrecision(3) + " s"; }
    return Math.floor(us / 6e7) + " min " + (us / 1e6 % 60).toFixed(0) + " s";
  }
  function short(path) { return String(path || "").split("/").slice(-2).join("/"); }
  // broken is a name that a line may break behind its signs.
  function broken(name) {
    var e = el("span", {"class": "name"});
    name.split(/(?<=[_.])/).forEach(function (part, i) { if (i > 0) { e.append(el("wbr")); } e.append(part); });
    return e;
  }
  function table(caption, heads, rows) {
    return el("div", {"class": "scroll", tabindex: 0, role: "group", "aria-label": caption}, el("table", null, el("caption", null, caption),
      el("thead", null, el("tr", null, heads.map(function (h) { return el("th", {scope: "col", "class": h[0] === "#" ? "num" : null}, h.replace(/^#/, "")); }))),
      el("tbody", null, rows.map(function (r) {
        return el("tr", null, r.map(function (c, i) { return i === 0 ? el("th", {scope: "row", "class": heads[0][0] === "#" ? "num" : "mono"}, c) : el("td", {"class": heads[i][0] === "#" ? "num" : null}, c); }));
      }))));
  }

  // ---- data ----

  var kept = new Map();
  function load(id) { return kept.has(id) ? kept.get(id) : read(id).then(JSON.parse); }
  // read gives the JSON of a compilation as a text.
  function read(id) {
    var island = document.getElementById(id);
    if (!island) { return Promise.reject(new Error("there is no compilation " + id)); }
    var raw = atob(island.textContent), b = new Uint8Array(raw.length);
    for (var i = 0; i < raw.length; i++) { b[i] = raw.charCodeAt(i); }
    return new Response(new Blob([b]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  }
  function keep(id) {
    var p = load(id);
    if (kept.size > 20) { kept.delete(kept.keys().next().value); }
    kept.set(id, p);
    return p;
  }

  // ---- code ----

  var words = "and as assert async await break class continue def del elif else except finally for from global if import in is lambda not or pass raise return try while with yield None True False void const float double int auto static extern template typename struct switch case bool char long unsigned int64_t int32_t uint8_t";
  var keywords = new Set(words.split(" "));
  var token = /(#.*|\/\/.*)|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|\b(\d[\w.]*)\b|\b([A-Za-z_]\w*)\b/g;
  function coloured(line) {
    if (line.length > 2000) { return [document.createTextNode(text(line))]; }
    var out = [], last = 0, m;
    token.lastIndex = 0;
    while ((m = token.exec(line))) {
      var kind = m[1] ? "k-c" : m[2] ? "k-s" : m[3] ? "k-n" : keywords.has(m[4]) ? "k-k" : "";
      if (m[1] && /^#(include|pragma|define|if|endif|else)/.test(m[1])) { kind = "k-k"; }
      if (!kind) { continue; }
      if (m.index > last) { out.push(line.slice(last, m.index)); }
      out.push(el("span", {"class": kind}, m[0]));
      last = m.index + m[0].length;
    }
    if (last < line.length) { out.push(line.slice(last)); }
    return out;
  }
  // codeOf shows lines: each is [number, text, mark, what stands behind it]; anchor is what their ids begin with.
  function codeOf(label, lines, anchor, plain) {
    var box = el("div", {"class": "code", tabindex: 0, role: "group", "aria-label": label});
    var last = 0;
    function put(from) {
      var part = document.createDocumentFragment();
      lines.slice(from, from + longText).forEach(function (l) {
        if (last && l[0] > last + 1) { part.appendChild(el("div", {"class": "gap"}, "⋯")); }
        last = l[0];
        part.appendChild(el("div", {"class": "l" + (l[2] ? " m-" + l[2] : ""), id: anchor && anchor + l[0]}, el("span", null, l[0]), el("span", null, plain ? l[1] : coloured(l[1]), l[3])));
      });
      if (from + longText < lines.length) {
        var button = el("button", {type: "button", onclick: function () { button.remove(); put(from + longText); }}, many(lines.length - from - longText, "more line"));
        part.appendChild(button);
      }
      box.appendChild(part);
    }
    put(0);
    return box;
  }
  function numbered(s) { return s.replace(/\n$/, "").split("\n").map(function (l, i) { return [i + 1, l]; }); }
  function copier(s) {
    var b = el("button", {type: "button", onclick: function () {
      var done = function () { b.textContent = "Copied"; setTimeout(function () { b.textContent = "Copy"; }, 2000); };
      if (navigator.clipboard) { navigator.clipboard.writeText(s).then(done, function () { b.textContent = "The browser does not allow it"; }); } else { b.textContent = "The browser does not allow it"; }
    }}, "Copy");
    return b;
  }

  // ---- the parts of a compilation ----

  var statuses = {error: ["✗", "failed", "bad"], "break": ["✂", "with a graph break", "warn"], again: ["↻", "compiled again", "odd"], whole: ["✓", "one graph", "good"], empty: ["∅", "no graph", "none"], open: ["…", "not ended", "none"]};
  var parts = [
    {key: "summary", title: "Summary", count: function () { return 1; }, show: summary},
    {key: "source", title: "Source", count: function (c) { return (c.sources || []).length; }, show: sources},
    {key: "breaks", title: "Breaks", count: function (c) { return (c.breaks || []).length; }, show: breaks},
    {key: "graph", title: "Graphs", count: function (c) { return (c.graphs || []).length; }, show: graphs},
    {key: "guards", title: "Guards", count: function (c) { return (c.guards || []).length + (c.why || []).length; }, show: guards},
    {key: "code", title: "Code", count: function (c) { return (c.codes || []).length; }, show: codes},
    {key: "time", title: "Time", count: function (c) { return (c.spans || []).length; }, show: times},
    {key: "figures", title: "Figures", count: function (c) { return (c.figures || []).length; }, show: figures},
    {key: "texts", title: "Texts", count: function (c) { return (c.others || []).length; }, show: texts}
  ];
  function link(c, part, rest) { return "#c" + c.number + "-" + part + (rest === undefined ? "" : "-" + rest); }

  function summary(c) {
    var captured = (c.graphs || []).filter(function (g) { return g.kind === "dynamo_output_graph"; });
    var forward = (c.graphs || []).find(function (g) { return g.saved; });
    function fact(name, value) { return value ? el("div", null, el("dt", null, name), el("dd", null, value)) : null; }
    return [
      el("dl", {"class": "facts"},
        fact("Frame", c.name), fact("Defined", c.file && el("span", {"class": "mono"}, c.file + ":" + c.line)), fact("Attempts", c.attempts), fact("Time", took(c.took)),
        fact("Operations", captured.length && captured[captured.length - 1].ops), fact("Guards", (c.guards || []).length), fact("Recompiles after it", c.failed),
        forward && fact("Saved for backward", el("a", {href: link(c, "graph", c.graphs.indexOf(forward))}, many(forward.saved.length, "tensor") + ", " + bytes(forward.bytes || 0)))),
      c.error && el("p", {"class": "note"}, el("strong", null, "It failed: "), el("span", {"class": "mono"}, c.error)),
      (c.why || []).length > 0 && el("section", null, el("h2", null, "Why it was compiled again"), reasons(c)),
      (c.breaks || []).length > 0 && el("section", null, el("h2", null, "Where its graph ends"), c.breaks.map(function (b, i) { return aBreak(c, b, i); })),
      (c.stack || []).length > 0 && el("section", null, el("h2", null, "Called from"), el("ul", {"class": "plain"}, c.stack.map(function (s) { return el("li", null, el("span", {"class": "mono"}, s.file + ":" + s.line), " in " + s.name); }))),
      (c.caches || []).length > 0 && el("section", null, el("h2", null, "Caches"), table("What caches said", ["cache", "answer", "saved", "key"], c.caches.map(function (x) { return [x.cache, x.hit + (x.why ? ": " + x.why : ""), x.saved, el("span", {"class": "mono"}, x.key)]; }))),
      (c.symbols || []).length > 0 && el("section", null, el("h2", null, "Sizes that may vary"), table("Symbols, and what became of them", ["symbol", "what", "value", "range", "from"], c.symbols.map(function (s) { return [s.symbol, s.what, s.value, s.range, el("span", {"class": "mono"}, s.source)]; })))
    ];
  }
  function reasons(c) {
    return el("ul", {"class": "plain"}, c.why.map(function (w) {
      return el("li", null, w.number >= 0 ? el("a", {href: "#c" + w.number + "-guards"}, w.of) : w.of, " ", el("span", {"class": "mono"}, w.why), w.hint && el("div", {"class": "hint"}, w.hint));
    }));
  }
  function aBreak(c, b, i) {
    var at = b.file + ":" + b.line, file = (c.sources || []).findIndex(function (s) { return s.name === b.file && s.lines.some(function (l) { return l.n === b.line; }); });
    return el("div", {"class": "card", id: "c" + c.number + "-breaks-" + i},
      el("p", null, file >= 0 ? el("a", {href: link(c, "source", file + "-L" + b.line), "class": "mono"}, at) : el("span", {"class": "mono"}, at)),
      el("p", {"class": "mono"}, b.reason), b.explain && el("p", null, b.explain), (b.hints || []).map(function (h) { return el("p", {"class": "hint"}, h); }),
      b.docs && /^https:\/\//.test(b.docs) && el("p", null, el("a", {href: b.docs, rel: "noreferrer"}, "What PyTorch's documents say"), " (needs a network)"));
  }
  function breaks(c) {
    return (c.breaks || []).map(function (b, i) { return [aBreak(c, b, i), el("details", null, el("summary", null, "The whole text"), el("pre", {"class": "fold", tabindex: 0}, c.texts[b.text]))]; });
  }

  function sources(c) {
    var list = c.graphs || [], captured = -1;
    list.forEach(function (g, i) { if (g.kind === "dynamo_output_graph") { captured = i; } });
    // What a line became: the nodes of the captured graph.
    function became(file, line) {
      var found = captured < 0 ? [] : list[captured].nodes.map(function (x, j) { return [x, j]; }).filter(function (p) { return p[0].f === file + 1 && p[0].l === line; });
      return found.length === 0 ? null : [el("span", {"class": "became"}, "  → "), found.slice(0, 8).map(function (p, j) { return [j ? ", " : "", el("a", {href: link(c, "graph", captured + "-n" + p[1])}, p[0].n)]; }), found.length > 8 ? " …" : ""];
    }
    return (c.sources || []).map(function (s, i) {
      return el("section", null, el("h2", {"class": "mono"}, s.name), s.note && el("p", {"class": "soft"}, s.note),
        el("p", {"class": "soft"}, "Blue lines are in the graph, with the nodes that they became; yellow ones end it."),
        codeOf("Source " + s.name, s.lines.map(function (l) { return [l.n, l.t, l.m, l.m === "captured" || l.m === "break" ? became(i, l.n) : null]; }), "c" + c.number + "-source-" + i + "-L"));
    });
  }

  function guards(c) {
    var failed = (c.guards || []).filter(function (g) { return g.failed; });
    function row(g) { return [el("span", null, el("span", {"class": "depth", "aria-hidden": "true"}, "· ".repeat(Math.max(0, g.depth - 1))), g.source || "–"), broken(g.kind), el("span", {"class": "mono"}, g.text), g.failed || ""]; }
    return [
      (c.why || []).length > 0 && el("section", null, el("h2", null, "Why the code before it did not do"), reasons(c)),
      (c.differ || []).length > 0 && el("section", null, el("h2", null, "What changed since ", el("a", {href: "#c" + c.before + "-guards"}, "the compilation before")), el("div", {"class": "diff code diffs", tabindex: 0, role: "group", "aria-label": "Difference of the guards"}, c.differ.map(function (d) {
        return el("div", {"class": d.m === "+" ? "d-add" : d.m === "-" ? "d-del" : "d-hunk"}, el("span", {"class": "mark"}, d.m === "@" ? "" : d.m), el("span", null, d.t));
      }))),
      failed.length > 0 && el("section", null, el("h2", null, "Guards that failed later"), table("Most recompiles first", ["about", "kind", "guard", "#recompiles"], failed.slice().sort(function (a, b) { return b.failed - a.failed; }).map(row))),
      (c.guards || []).length > 0 && el("section", null, el("h2", null, "All guards"), table("In the order in which they are checked", ["about", "kind", "guard", "#recompiles"], c.guards.map(row)))
    ];
  }

  function codes(c, at) {
    if (!(c.codes || []).length) { return null; }
    var i = Math.min(at || 0, c.codes.length - 1), k = c.codes[i], g = k.graph >= 0 ? c.graphs[k.graph] : null;
    return [
      choose(c, "code", c.codes, i),
      el("div", {"class": "tools"}, copier(c.texts[k.text]), k.file && el("span", {"class": "mono soft"}, k.file)),
      (k.kernels || []).length > 0 && table("Its parts, with the nodes that each computes", ["part", "#line", "#called in line", "nodes", "known by"], k.kernels.map(function (p) {
        return [el("a", {href: link(c, "code", i + "-L" + p.line)}, p.name), p.line, p.call ? el("a", {href: link(c, "code", i + "-L" + p.call)}, p.call) : "",
          el("span", {"class": "mono"}, (p.nodes || []).map(function (n, j) { return [j ? ", " : "", el("a", {href: link(c, "graph", k.graph + "-n" + n)}, g.nodes[n].n)]; })), !(p.nodes || []).length ? "" : p.exact ? "its comment" : "its name"];
      })),
      codeOf(k.title, numbered(c.texts[k.text]), "c" + c.number + "-code-" + i + "-L")
    ];
  }
  function choose(c, part, list, i) {
    if (list.length < 2) { return el("h2", null, list[0].title); }
    return el("nav", {"aria-label": "Which one"}, el("ul", {"class": "parts"}, list.map(function (x, j) {
      return el("li", null, el("a", {href: link(c, part, j), "aria-current": j === i ? "true" : null}, x.title, x.ops !== undefined ? el("span", {"class": "badge"}, " " + x.ops) : ""));
    })));
  }

  function figures(c) {
    return table("What was measured; what has no value is left out", ["figure", "value"], (c.figures || []).map(function (f) {
      if (!f.k) { return [f.n, f.v]; }
      var d = el("details", {ontoggle: function () {
        if (!d.open || d.children.length > 1) { return; }
        keep("shared").then(function (s) { d.appendChild(el("pre", {"class": "fold", tabindex: 0}, pretty(s[f.k]))); });
      }}, el("summary", null, "Settings"));
      return [f.n, d];
    }));
  }
  function pretty(s) { try { return JSON.stringify(JSON.parse(s), null, 1); } catch (e) { return s; } }

  function texts(c, at) {
    return (c.others || []).map(function (o, i) {
      var s = c.texts[o.text];
      var d = el("details", {id: "c" + c.number + "-texts-" + i, ontoggle: function () { if (d.open && d.children.length < 2) { d.appendChild(el("div", null, el("div", {"class": "tools"}, copier(s)), codeOf(o.title, numbered(s), null, s.length > 500000))); } }},
        el("summary", null, o.title, el("span", {"class": "badge"}, " " + bytes(s.length))));
      if (i === at) { d.open = true; }
      return d;
    });
  }

  // ---- graphs ----

  function graphs(c, at, node) {
    var list = c.graphs || [];
    if (!list.length) { return null; }
    var i = at === undefined ? 0 : Math.min(at, list.length - 1), g = list[i];
    var card = el("div", {"class": "card", "aria-live": "polite"}), lines = c.texts[g.text];
    var drawn = el("div", {"class": "drawn", tabindex: 0, role: "group", "aria-label": "Drawing of the graph"});
    var box = codeOf("Text of the graph", numbered(lines), "c" + c.number + "-graph-" + i + "-L");
    var zoom = 1, page = node === undefined ? 0 : Math.floor(node / graphPage), pages = Math.ceil(g.nodes.length / graphPage), svg = null;
    var where = el("span", {"class": "soft", "aria-live": "polite"});
    function scale(by) {
      zoom = by ? Math.min(4, Math.max(0.15, zoom * by)) : 1;
      if (svg) { svg.setAttribute("width", svg.dataset.w * zoom); svg.setAttribute("height", svg.dataset.h * zoom); }
    }
    function turn(to) {
      page = to;
      where.textContent = pages > 1 ? "nodes " + (page * graphPage + 1) + " to " + Math.min(g.nodes.length, (page + 1) * graphPage) + " of " + g.nodes.length : many(g.nodes.length, "node");
      svg = draw(c, g, i, page);
      drawn.replaceChildren(svg);
      scale(0);
      if (drawn.clientWidth && svg.dataset.w > drawn.clientWidth) { scale(Math.max(0.45, drawn.clientWidth / svg.dataset.w)); }
      select(node);
    }
    function select(n) {
      node = n;
      drawn.querySelectorAll("[aria-current]").forEach(function (e) { e.removeAttribute("aria-current"); });
      drawn.querySelectorAll(".lit").forEach(function (e) { e.classList.remove("lit"); });
      box.querySelectorAll(".m-on").forEach(function (e) { e.classList.remove("m-on"); });
      card.replaceChildren();
      if (n === undefined || !g.nodes[n]) { add(card, el("p", {"class": "soft"}, "Choose a node to see where it comes from and what computes it.")); return; }
      var x = g.nodes[n], users = [];
      g.nodes.forEach(function (y, j) { if ((y.i || []).indexOf(n) >= 0) { users.push(j); } });
      function names(l) { return l.map(function (j, k) { return [k ? ", " : "", el("a", {"class": "mono", href: link(c, "graph", i + "-n" + j)}, g.nodes[j].n)]; }); }
      var made = [];
      (c.codes || []).forEach(function (k, ki) {
        var like = alike(c, g, n, k.graph);
        (k.kernels || []).forEach(function (p) {
          if (!(p.nodes || []).some(function (j) { return like.nodes.indexOf(j) >= 0; })) { return; }
          made.push(el("div", null, el("a", {"class": "mono", href: link(c, "code", ki + "-L" + p.line)}, p.name), like.how || (p.exact ? "" : " (by its name)")));
        });
      });
      var s = x.f ? c.sources[x.f - 1] : null, line = s && s.lines.find(function (l) { return l.n === x.l; });
      function fact(k, v) { return v && (!Array.isArray(v) || v.length) ? [el("dt", null, k), el("dd", null, v)] : null; }
      add(card, [el("h2", {"class": "mono"}, x.n), el("dl", null, fact("Operation", el("span", {"class": "mono"}, x.o)), fact("Type", x.t && el("span", {"class": "mono"}, x.t)), fact("Reads", names(x.i || [])), fact("Read by", names(users)),
        fact("Source", s && [el(line ? "a" : "span", {"class": "mono", href: line && link(c, "source", (x.f - 1) + "-L" + x.l)}, short(s.name) + ":" + x.l), line ? el("div", {"class": "mono"}, line.t.trim()) : ""]), fact("Computed by", made))]);
      var e = drawn.querySelector('[data-n="' + n + '"]');
      if (e) { e.setAttribute("aria-current", "true"); e.scrollIntoView({block: "nearest", inline: "nearest"}); }
      drawn.querySelectorAll('[data-a="' + n + '"], [data-b="' + n + '"]').forEach(function (p) { p.classList.add("lit"); });
      var l = box.querySelector('[id$="-L' + x.k + '"]');
      if (l) { l.classList.add("m-on"); box.scrollTop = l.offsetTop - box.clientHeight / 2; }
    }
    view.select = function (n) {
      if (n !== undefined && g.nodes[n] && Math.floor(n / graphPage) !== page) { node = n; turn(Math.floor(n / graphPage)); } else { select(n); }
    };
    setTimeout(function () { turn(page); }, 0);
    return [
      choose(c, "graph", list, i),
      g.saved && el("details", null, el("summary", null, "Saved for the backward graph: " + many(g.saved.length, "tensor") + ", " + bytes(g.bytes || 0) + " beside the inputs"), table("What the forward graph keeps", ["tensor", "type", "#bytes", "what it is"], g.saved.map(function (s) { return [s.name, el("span", {"class": "mono"}, s.type), s.bytes < 0 ? "?" : s.bytes, s.input ? "an input" : "computed"]; }))),
      el("div", {"class": "tools"},
        el("button", {type: "button", "aria-label": "Larger", onclick: function () { scale(1.25); }}, "+"), el("button", {type: "button", "aria-label": "Smaller", onclick: function () { scale(0.8); }}, "−"),
        el("button", {type: "button", onclick: function () { scale(0); }}, "1:1"), el("button", {type: "button", onclick: function () { scale(0); scale(drawn.clientWidth / svg.dataset.w); }}, "Fit"),
        pages > 1 && [el("button", {type: "button", onclick: function () { turn(Math.max(0, page - 1)); }}, "Nodes before"), el("button", {type: "button", onclick: function () { turn(Math.min(pages - 1, page + 1)); }}, "Nodes after")], where),
      el("div", {"class": "beside"}, drawn, card),
      el("h2", null, "Text"), el("div", {"class": "tools"}, copier(lines)), box
    ];
  }
  // alike are the nodes of the graph that code was made of which stand for a node of another one: the same node where the graphs are the same, one that is written in
  // the same way, or those of the same line of the source.
  function alike(c, g, n, other) {
    var o = c.graphs[other], x = g.nodes[n];
    if (!o || x.o === "placeholder" || x.o === "output") { return {nodes: []}; }
    if (o === g || o.text === g.text) { return {nodes: [n]}; }
    var same = o.nodes.findIndex(function (y) { return y.n === x.n && y.o === x.o && y.t === x.t; });
    if (same >= 0) { return {nodes: [same]}; }
    if (!x.f) { return {nodes: []}; }
    return {nodes: o.nodes.map(function (y, j) { return y.f === x.f && y.l === x.l ? j : -1; }).filter(function (j) { return j >= 0; }), how: " (the same line of the source)"};
  }
  // draw lays a page of a graph out. What its nodes read of other pages stands in dashed boxes.
  function draw(c, g, gi, page) {
    var from = page * graphPage, to = Math.min(g.nodes.length, from + graphPage), boxes = [], place = new Map(), edges = [];
    function cut(s) { s = text(s); return s.length > 30 ? s.slice(0, 29) + "…" : s; }
    function box(n) {
      if (place.has(n)) { return place.get(n); }
      var x = g.nodes[n], lower = x.o === "output" ? "what it returns" : x.o === "placeholder" ? (x.t || "input") : x.o + (x.t ? "  " + x.t.replace(/\]\[.*$/, "]") : "");
      place.set(n, boxes.length);
      boxes.push({n: n, name: cut(x.n), op: cut(lower), w: Math.max(cut(x.n).length, cut(lower).length, 6) * 7 + 18, else: n < from || n >= to, kind: x.o === "placeholder" || x.o === "output" || x.o === "get_attr" ? x.o : "call"});
      return boxes.length - 1;
    }
    for (var n = from; n < to; n++) { box(n); }
    for (n = from; n < to; n++) { (g.nodes[n].i || []).forEach(function (j) { edges.push([box(j), box(n), j, n]); }); }
    var at = JSON.parse(layout(JSON.stringify({boxes: boxes.map(function (b) { return [b.w, 40]; }), edges: edges.map(function (e) { return [e[0], e[1]]; })})));
    var svg = el("svg", {"class": "graph", viewBox: "0 0 " + at.width.toFixed(0) + " " + at.height.toFixed(0), role: "group", "aria-label": "Graph with " + many(to - from, "node")});
    svg.dataset.w = at.width;
    svg.dataset.h = at.height;
    at.edges.forEach(function (p, k) {
      svg.appendChild(el("path", {"class": "edge", d: p.map(function (q, m) { return (m ? "L" : "M") + q[0].toFixed(1) + "," + q[1].toFixed(1); }).join(""), "data-a": edges[k][2], "data-b": edges[k][3]}));
    });
    boxes.forEach(function (b, k) {
      var x = at.boxes[k][0], y = at.boxes[k][1];
      svg.appendChild(el("a", {svg: true, href: link(c, "graph", gi + "-n" + b.n), "data-n": b.n, "class": "n-" + (b.else ? "elsewhere" : b.kind)},
        el("rect", {x: (x - b.w / 2).toFixed(1), y: (y - 20).toFixed(1), width: b.w, height: 40, rx: 5}),
        el("text", {svg: true, x: x.toFixed(1), y: (y - 3).toFixed(1)}, b.name), el("text", {svg: true, "class": "target", x: x.toFixed(1), y: (y + 13).toFixed(1)}, b.op)));
    });
    return svg;
  }

  // ---- times ----

  function times(c) {
    var spans = (c.spans || []).filter(function (s) { return s.f > 0; });
    if (!spans.length) { return el("p", null, "The trace has no times of it."); }
    var begin = Math.min.apply(null, spans.map(function (s) { return s.a; })), end = Math.max.apply(null, spans.map(function (s) { return s.a + s.f; }));
    var flame = el("div", {"class": "flame", role: "group", "aria-label": "Phases over time"});
    var said = el("p", {"class": "soft", "aria-live": "polite"}, "Each bar is a phase, with those in it below. Choose one to see it at full width.");
    var back = el("button", {type: "button", onclick: function () { show(begin, end); said.textContent = "All " + took(end - begin) + "."; }}, "Whole");
    var deep = Math.max.apply(null, spans.map(function (s) { return s.d; })) + 1;
    function show(a, b) {
      var width = Math.max(b - a, 1);
      flame.replaceChildren();
      flame.style.height = 24 * deep + 4 + "px";
      spans.forEach(function (s) {
        var x = Math.max(s.a, a), w = Math.min(s.a + s.f, b) - x;
        if (w / width < 0.001) { return; }
        var e = el("button", {type: "button", "class": "p" + hash(s.n) % 6, title: s.n + " " + took(s.f), onclick: function () { show(s.a, s.a + s.f); said.textContent = text(s.n + (s.w ? " (" + s.w + ")" : "") + ": " + took(s.f) + ", " + took(s.s) + " of it its own" + (s.o ? "; its end is not in the trace" : "") + "."); }}, s.n + " " + took(s.f));
        e.style.left = 100 * (x - a) / width + "%";
        e.style.width = 100 * w / width + "%";
        e.style.top = 2 + 24 * s.d + "px";
        flame.appendChild(e);
      });
    }
    show(begin, end);
    var sums = new Map();
    spans.forEach(function (s) { var r = sums.get(s.n) || [s.n, 0, 0, 0]; r[1]++; r[2] += s.f; r[3] += s.s; sums.set(s.n, r); });
    var all = Array.from(sums.values()).sort(function (a, b) { return b[3] - a[3]; }), sum = all.reduce(function (t, r) { return t + r[3]; }, 0);
    return [el("div", {"class": "tools"}, back, said), flame, table("Phases, by the time that is theirs alone", ["phase", "#times", "#whole", "#alone", "#share"], all.map(function (r) { return [broken(r[0]), r[1], took(r[2]), took(r[3]), (100 * r[3] / (sum || 1)).toFixed(0) + " %"]; }))];
  }
  function hash(s) { var h = 7; for (var i = 0; i < s.length; i++) { h = (31 * h + s.charCodeAt(i)) >>> 0; } return h; }

  // ---- search ----

  var asked = 0;
  function search(words) {
    var mine = ++asked, wanted = words.toLowerCase(), found = 0, most = 300, list = el("ul", {"class": "plain"}), said = el("p", {"aria-live": "polite"}, "Searching…");
    shown = "";
    overview.hidden = true;
    view.hidden = false;
    mark(-1);
    view.replaceChildren(el("h1", null, "Search"), el("p", null, "for ", el("strong", null, words)), said, list);
    if (!wanted) { said.textContent = "Nothing is asked for."; return; }
    function hit(c, href, where, s, at) {
      if (found++ >= most) { return; }
      var a = Math.max(s.lastIndexOf("\n", at - 1) + 1, at - 60), b = s.indexOf("\n", at);
      b = Math.min(b < 0 ? s.length : b, at + words.length + 100);
      list.appendChild(el("li", null, el("a", {href: href}, c.id + " " + c.called), " ", el("span", {"class": "soft"}, where), el("div", {"class": "mono"}, s.slice(a, at), el("mark", null, s.slice(at, at + words.length)), s.slice(at + words.length, b))));
    }
    function look(c) {
      var places = [];
      (c.graphs || []).forEach(function (g, i) { places.push([g.text, link(c, "graph", i), g.title]); });
      (c.codes || []).forEach(function (k, i) { places.push([k.text, link(c, "code", i), k.title]); });
      (c.breaks || []).forEach(function (b) { places.push([b.text, link(c, "breaks"), "Break"]); });
      (c.others || []).forEach(function (o, i) { places.push([o.text, link(c, "texts", i), o.title]); });
      [[c.name + " " + (c.file || "") + " " + (c.error || ""), link(c, "summary"), "Summary"]].concat(
        (c.sources || []).map(function (s, i) { return [s.lines.map(function (l) { return l.t; }).join("\n"), link(c, "source", i), "Source " + short(s.name)]; }),
        [[(c.guards || []).map(function (g) { return g.kind + ": " + g.text; }).concat((c.why || []).map(function (w) { return w.why; })).join("\n"), link(c, "guards"), "Guards"],
          [(c.figures || []).map(function (f) { return f.n + " " + f.v; }).join("\n"), link(c, "figures"), "Figures"]],
        places.map(function (p) { return [c.texts[p[0]], p[1], p[2]]; })
      ).forEach(function (p) {
        var low = p[0].toLowerCase(), n = 0;
        for (var at = low.indexOf(wanted); at >= 0 && n < 3; at = low.indexOf(wanted, at + wanted.length), n++) { hit(c, p[1], p[2], p[0], at); }
      });
    }
    // A compilation whose JSON has not got the words, as JSON has them, need not be read as such. Characters that may be written in two ways are looked for in all.
    var raw = /^[ -~\n\t]*$/.test(wanted) ? JSON.stringify(wanted).slice(1, -1) : "";
    var i = 0, once = 8, settings = false;
    (function next() {
      if (mine !== asked) { return; }
      if (!document.getElementById("d" + i) && !settings && found < most) {
        settings = true;
        load("shared").then(function (all) {
          Object.keys(all).forEach(function (k) {
            var low = all[k].toLowerCase();
            for (var at = low.indexOf(wanted), n = 0; at >= 0 && n < 3; at = low.indexOf(wanted, at + wanted.length), n++) { hit({id: "", called: "Settings"}, "#c0-figures", "of several compilations", all[k], at); }
          });
          next();
        }).catch(function (e) { said.textContent = text(e.message); });
        return;
      }
      if (!document.getElementById("d" + i) || found >= most) {
        said.textContent = found ? (found >= most ? "The first " + most + " places, " : many(found, "place") + ", ") + "at most three of a text." : "It is nowhere.";
        return;
      }
      var some = [];
      for (var end = i + once; i < end && document.getElementById("d" + i); i++) { some.push(read("d" + i)); }
      Promise.all(some).then(function (list) {
        if (mine !== asked) { return; }
        list.forEach(function (s) { if (s.toLowerCase().indexOf(raw) >= 0) { look(JSON.parse(s)); } });
        said.textContent = "Searching… " + many(found, "place") + " in the first " + many(i, "compilation");
        next();
      }).catch(function (e) { said.textContent = text(e.message); });
    })();
  }

  // ---- where the page is ----

  var shown = "";
  function mark(n) {
    document.querySelectorAll("#frames a[aria-current]").forEach(function (a) { a.removeAttribute("aria-current"); });
    if (n < 0) { return; }
    var a = document.querySelector('#frames a[href="#c' + n + '"]');
    if (a) { a.setAttribute("aria-current", "page"); a.scrollIntoView({block: "nearest"}); }
  }
  function route() {
    var m = /^#c(\d+)(?:-([a-z]+)(?:-(\d+)(?:-(n|L)(\d+))?)?)?$/.exec(location.hash);
    if (location.hash === "#main" || location.hash === "#words") { return; }
    asked++;
    if (!m) {
      shown = "";
      view.hidden = true;
      overview.hidden = false;
      mark(-1);
      var there = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
      if (location.hash === "#top") { window.scrollTo(0, 0); } else if (there) { there.scrollIntoView(); }
      return;
    }
    var number = +m[1], part = m[2] || "summary", at = m[3] === undefined ? undefined : +m[3], key = number + " " + part + " " + (at === undefined && part === "graph" ? 0 : at), fine = m[4] ? +m[5] : undefined;
    function settle(first) {
      if (m[4] === "L") {
        view.querySelectorAll(".m-on").forEach(function (e) { e.classList.remove("m-on"); });
        var l = document.getElementById(location.hash.slice(1));
        if (l) { l.classList.add("m-on"); l.scrollIntoView({block: "center"}); }
      } else if (first && m[4] !== "n") { window.scrollTo(0, 0); }
    }
    if (key === shown) {
      if (part === "graph" && view.select) { view.select(fine); }
      settle(false);
      return;
    }
    keep("d" + number).then(function (c) {
      var p = parts.find(function (x) { return x.key === part; }) || parts[0], s = statuses[c.status] || statuses.open;
      shown = key;
      view.select = null;
      overview.hidden = true;
      view.hidden = false;
      var body = p.show(c, at, fine);
      view.replaceChildren(
        el("p", {"class": "soft"}, el("a", {href: "#top"}, "Overview"), c.before >= 0 && [" · ", el("a", {href: "#c" + c.before}, "the compilation before of this frame")]),
        el("h1", null, el("span", {"class": "sign t-" + s[2], "aria-hidden": "true"}, s[0]), el("span", {"class": "mono"}, c.id), " " + c.called, el("span", {"class": "hear"}, ", " + s[1])),
        el("nav", {"aria-label": "Parts"}, el("ul", {"class": "parts"}, parts.filter(function (x) { return x.count(c); }).map(function (x) {
          return el("li", null, el("a", {href: "#c" + number + "-" + x.key, "aria-current": x === p ? "page" : null}, x.title, x.key !== "summary" && el("span", {"class": "badge"}, " " + x.count(c))));
        }))),
        el("div", {id: "part"}));
      add(document.getElementById("part"), body || el("p", null, "The trace has nothing of it."));
      mark(number);
      settle(true);
    }).catch(function (e) {
      shown = "";
      overview.hidden = true;
      view.hidden = false;
      view.replaceChildren(el("h1", null, "Not there"), el("p", {"class": "note"}, "This cannot be shown: " + e.message), el("p", null, el("a", {href: "#top"}, "Overview")));
    });
  }
  document.getElementById("search").addEventListener("submit", function (e) { e.preventDefault(); search(document.getElementById("words").value.trim()); });
  document.addEventListener("keydown", function (e) {
    if (e.key === "/" && !/^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName) && !e.ctrlKey && !e.metaKey) { e.preventDefault(); document.getElementById("words").focus(); }
  });
  window.addEventListener("hashchange", route);
  document.addEventListener("DOMContentLoaded", route);
})();
