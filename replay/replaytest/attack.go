package replaytest

import (
	"context"
	"fmt"
	"strings"

	"whittle/replay"
)

// Mark is in every text of Attack that would make an element or an attribute of a page: one that has it shows that something was not escaped.
const Mark = "attackmark"

// Attacks are texts that whoever shows a store must show as text.
var Attacks = []string{
	`<script class="` + Mark + `">document.title='` + Mark + `'</script>`,
	`"><img src=x ` + Mark + ` onerror="` + Mark + `()">`,
	`' ` + Mark + `='1' onmouseover='` + Mark + `()`,
	`javascript:` + Mark + `()`,
	`</textarea></title></style></script></svg></pre><` + Mark + `>`,
	`<!--<` + Mark + `> --!> <![CDATA[<` + Mark + `>]]>`,
	`{{.` + Mark + `}} ${` + Mark + "} `" + Mark + "`",
	"\x1b[31mred\x1b]0;title\x07\x1b]8;;http://example.com\x1b\\link",
	"abc\u202egnp.exe\u2066\u200f\u200b\ufeff\u2028",
	"invalid \xff\xfe\xc3\x28 utf-8",
	"nul \x00 inside",
	"cr \r\n tab \t del \x7f c1 \u009b",
	`&lt;` + Mark + `&gt; &amp;#60;`,
	`data:text/html,<script>` + Mark + `</script>`,
	`../../../etc/passwd?` + Mark + `=1#` + Mark,
}

// Attack makes a store at path, which must not be there, every text of which is an attack.
func Attack(ctx context.Context, path string) error {
	s, err := replay.Open(ctx, path)
	if err != nil {
		return err
	}
	defer s.Close()
	long := strings.Repeat(Attacks[0], 1<<20/len(Attacks[0]))
	all := strings.Join(Attacks, "\n")
	code := "class Repro(torch.nn.Module):\n    def forward(self, x):\n        y = torch.ops.aten.relu.default(x, kind = '<b " + Mark + ">\u202e')\n        return (y,)\n# " + all
	blob := func(text string) (key string) {
		if err == nil {
			key, err = s.PutBlob(ctx, []byte(text))
		}
		return key
	}
	keys := struct{ all, code, long, report, cert string }{all: blob(all), code: blob(code), long: blob(long)}
	entries := map[string]any{}
	for i, a := range Attacks {
		entries[a] = []any{a, map[string]any{a: a, "url": "javascript:" + Mark, "n": i}}
	}
	entries["rows"] = []any{map[string]any{"a": Attacks[0], Attacks[1]: Attacks[2]}, map[string]any{"a": long}}
	keys.report = blob(text(entries))
	keys.cert = blob(text([]replay.Trial{{Reduction: Attacks[0], Edit: Attacks[1], Verdict: replay.Verdict(Attacks[2])}}))
	if err != nil {
		return err
	}
	for i, t := range []string{code, all} { // one can be drawn, the other cannot be read
		if err := s.PutGraph(ctx, fmt.Sprintf("%064x", i), t, 3); err != nil {
			return err
		}
	}
	return write(ctx, path, func(w *writer) {
		w.put(`INSERT INTO graphs(hash, text, nodes, created) VALUES (?,?,1,1)`, Attacks[1], keys.long)
		n := len(Attacks)
		for i, a := range Attacks {
			b, c, id := Attacks[(i+1)%n], Attacks[(i+2)%n], i+1
			if i == 3 {
				c = long
			}
			sig := a // not JSON
			if i%2 == 0 {
				sig = text(replay.Signature{Stage: a, Type: b, Message: c})
			}
			var result, finished any
			if i%3 != 2 {
				result, finished = keys.code, 5
			}
			graph := any(fmt.Sprintf("%064x", i%2))
			if i == 4 {
				graph = Attacks[1]
			}
			w.put(`INSERT INTO minifications(id, key, start, result, signature, certificate, created, finished, start_calls, calls) VALUES (?,?,?,?,?,?,1,?,9,1)`, id, a, keys.all, result, sig, a, finished)
			if result != nil {
				w.put(`INSERT INTO results(minification, repro, standalone, error, environment, certificate, engine, launcher, config, workaround, free, start_cost, end_cost, complete, queries, cache_hits, rejected, seconds,
					confirmed, runs, rate, false_runs, false_rate, stopped, off, created) VALUES (?,?,?,?,?,?,?,?,?,?,?,'{}','{}',1,1,1,1,1,1,1,1,1,0.5,?,?,1)`, id, keys.code, keys.all, keys.long, keys.all, keys.cert, a, b,
					text([]replay.Setting{{Name: a, Value: b}}), text([]replay.Setting{{Name: b, Value: c}}), text([]string{a, b}), a, text([]string{c}))
				w.put(`INSERT INTO result_files(minification, path, blob) VALUES (?,?,?), (?,?,?), (?,?,?)`, id, "generated/good/"+a, keys.all, id, "generated/bad/"+a, keys.code, id, a, keys.all)
			}
			w.put(`INSERT INTO steps(minification, seq, parent, reduction, candidate, edit, verdict, cached, taken, ms) VALUES (?,1,?,?,?,?,?,0,1,5), (?,2,?,?,?,?,?,1,0,5)`, id, a, b, c, a, b, id, b, c, a, c, a)
			w.put(`INSERT INTO findings(minification, signature, raw, repro, created) VALUES (?,?,?,?,1)`, id, text(replay.Signature{Type: a}), b, keys.all)
			w.put(`INSERT INTO bisections(id, key, kind, subject, result, created, finished) VALUES (?,?,?,?,?,1,?)`, id, a, []string{"versions", "commits", a}[i%3], b, "first bad: "+c, finished)
			w.put(`INSERT INTO trials(bisection, point, attempt, verdict, text, outcome, ms, created) VALUES (?,?,0,'good',?,'',5,1), (?,?,0,'bad',?,'',5,2), (?,?,0,?,?,'',5,3), (?,?,0,'',?,?,5,4)`, id, a, b, id, c, a, id, b, a, c, id, "v "+b, a,
				text(replay.Outcome{Status: replay.Status(a), Signature: replay.Signature{Type: b, Message: c}}))
			w.put(`INSERT INTO groups(id, title, state, assignee, muted, until, created, updated) VALUES (?,?,?,?,?,9,1,1)`, id, a, b, c, a)
			w.put(`INSERT INTO failures(id, graph, stage, type, message, frame, output, raw, config, inputs, repro, created, minification, bisection, origin, decides) VALUES (?,?,?,?,?,?,?,?,?,?,?,1,?,?,?,?)`,
				id, graph, a, b, c, a, b, c, a, b, keys.code, id, id, a, b)
			w.put(`INSERT INTO members(failure, "group", features, distance, pinned, placed) VALUES (?,?,?,0.5,1,1)`, id, id, text(map[string]any{a: b, "list": []any{c, map[string]any{b: a}}}))
			w.put(`INSERT INTO events("group", actor, kind, text, created) VALUES (?,?,?,?,1)`, id, a, b, c)
			w.put(`INSERT INTO cases(id, bot, name, mode) VALUES (?,?,?,?)`, id, Attacks[0], a, b)
			w.put(`INSERT INTO nights(id, bot, key, version, fingerprint, report, hook, created, finished) VALUES (?,?,?,?,?,?,'',1,2)`, id, Attacks[0], a, b, c, []string{keys.report, keys.all}[i%2])
		}
		for i, a := range Attacks {
			for j := range 3 {
				night := 1 + (i+j)%n
				w.put(`INSERT INTO runs(night, "case", version, attempt, status, outcome, figures, failure, ms, created) VALUES (?,?,?,0,?,?,?,?,5,1)`, night, i+1, Attacks[(night)%n], a, a, a, i+1)
				w.put(`INSERT INTO figures("case", name, night, value, spread, samples) VALUES (?,?,?,?,1,?)`, i+1, a, night, float64(j)*1e300, a)
				w.put(`INSERT INTO news(night, "case", kind, subject, "group", text, detail) VALUES (?,?,?,?,?,?,?)`, night, i+1, Attacks[(i+4)%n], a, i+1, Attacks[(i+5)%n], a)
			}
		}
	})
}
