// The two things of a page that need a script: a button that copies a text as it is, and a search that is followed while it runs.
"use strict";

document.querySelectorAll("pre[data-copy]").forEach(function (pre) {
  var button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.setAttribute("aria-label", "Copy " + pre.getAttribute("aria-label"));
  button.addEventListener("click", function () {
    // Without its marks the text that is shown is not the text that is stored: that one is copied.
    fetch(pre.dataset.copy).then(function (r) {
      if (!r.ok) { throw new Error(r.statusText); }
      return r.text();
    }).then(function (text) { return navigator.clipboard.writeText(text); }).then(
      function () { say("Copied"); }, function () { getSelection().selectAllChildren(pre); say("Selected: press Ctrl+C"); });
  });
  function say(text) {
    button.textContent = text;
    setTimeout(function () { button.textContent = "Copy"; }, 2000);
  }
  pre.parentNode.insertBefore(button, pre);
});

document.querySelectorAll("[data-live]").forEach(function (root) {
  var field = function (name) { return root.querySelector("[data-field=" + name + "]"); };
  var source = new EventSource(root.dataset.live), began = Date.now(), points = [];
  function cell(row, tag, text, cls) {
    var c = document.createElement(tag);
    c.textContent = text;
    if (cls) { c.className = cls; } else { c.scope = "row"; }
    row.appendChild(c);
  }
  function show(e) {
    var p = JSON.parse(e.data);
    field("calls").textContent = p.calls < 0 ? "?" : p.calls;
    field("steps").textContent = p.steps;
    var body = field("passes");
    if (body && p.passes) {
      body.replaceChildren();
      p.passes.forEach(function (x) {
        var row = document.createElement("tr");
        cell(row, "th", x.reduction);
        cell(row, "td", x.steps, "num");
        cell(row, "td", x.wins, "num");
        cell(row, "td", x.time, "num");
        body.appendChild(row);
      });
    }
    if (p.calls >= 0) { draw((Date.now() - began) / 1000, p.calls, Math.max(p.start, p.calls, 1)); }
    return p;
  }
  function draw(t, calls, top) {
    if (points.length && points[points.length - 1][1] === calls) { points.pop(); }
    points.push([t, calls]);
    var svg = field("plot"), end = Math.max(t, 1), ns = "http://www.w3.org/2000/svg";
    var d = points.map(function (p, i) {
      var x = 40 + 590 * p[0] / end, y = 130 - 115 * p[1] / top;
      return i ? "H" + x.toFixed(1) + "V" + y.toFixed(1) : "M40," + y.toFixed(1) + "H" + x.toFixed(1);
    }).join("") + "H630";
    svg.replaceChildren();
    var path = document.createElementNS(ns, "path");
    path.setAttribute("class", "no-fill stroke-line");
    path.setAttribute("d", d);
    svg.appendChild(path);
    [[4, 19, top], [4, 134, 0], [40, 147, "0 s"], [590, 147, end.toFixed(0) + " s"]].forEach(function (l) {
      var text = document.createElementNS(ns, "text");
      text.setAttribute("x", l[0]);
      text.setAttribute("y", l[1]);
      text.textContent = l[2];
      svg.appendChild(text);
    });
    svg.closest("figure").hidden = false;
  }
  field("hint").textContent = "This search is in progress; this page follows it.";
  source.addEventListener("progress", show);
  source.addEventListener("done", function (e) {
    source.close();
    field("state").textContent = show(e).state;
    field("hint").textContent = "This search has ended. Reload the page to see its result.";
  });
});
