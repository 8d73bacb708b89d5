package fx

import (
	"encoding/json"
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"
	"unicode/utf16"
)

// Field is a name with its value.
type Field struct {
	Name  string
	Value any
}

// Fields are an object of JSON whose names have an order.
type Fields []Field

// Raw is a text that is JSON already.
type Raw string

// JSON writes a value as Python's json.dumps does: with a space behind commas and colons, and in ASCII; lines puts each item on a line of its own, as
// indent=0 does. Values are Fields, maps by strings, []any, numbers, strings, booleans, Raw and nil; anything else is written as a string.
func JSON(v any, lines bool) string {
	var b strings.Builder
	writeJSON(&b, v, lines)
	return b.String()
}

func writeJSON(b *strings.Builder, v any, lines bool) {
	gap, edge := ", ", ""
	if lines {
		gap, edge = ",\n", "\n"
	}
	all := func(open, end string, n int, item func(i int)) {
		b.WriteString(open)
		for i := range n {
			if i > 0 {
				b.WriteString(gap)
			} else {
				b.WriteString(edge)
			}
			item(i)
		}
		if n > 0 {
			b.WriteString(edge)
		}
		b.WriteString(end)
	}
	switch v := v.(type) {
	case nil:
		b.WriteString("null")
	case Raw:
		b.WriteString(string(v))
	case Fields:
		all("{", "}", len(v), func(i int) {
			writeString(b, v[i].Name)
			b.WriteString(": ")
			writeJSON(b, v[i].Value, lines)
		})
	case map[string]any:
		var f Fields
		for k, x := range v {
			f = append(f, Field{k, x})
		}
		sort.Slice(f, func(i, j int) bool { return f[i].Name < f[j].Name })
		writeJSON(b, f, lines)
	case []any:
		all("[", "]", len(v), func(i int) { writeJSON(b, v[i], lines) })
	case string:
		writeString(b, v)
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1e16 {
			b.WriteString(strconv.FormatFloat(v, 'f', 1, 64))
			return
		}
		b.WriteString(strconv.FormatFloat(v, 'g', -1, 64))
	case bool, int, int64:
		fmt.Fprint(b, v)
	default:
		writeString(b, fmt.Sprint(v))
	}
}

// writeString writes a string in ASCII.
func writeString(b *strings.Builder, s string) {
	text, _ := json.Marshal(s)
	for _, r := range strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(text)) {
		switch {
		case r < 0x80:
			b.WriteRune(r)
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			fmt.Fprintf(b, `\u%04x\u%04x`, hi, lo)
		default:
			fmt.Fprintf(b, `\u%04x`, r)
		}
	}
}
