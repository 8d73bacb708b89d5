package fx

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode"

	"whittle/kernels/tensor"
)

// FormatArg writes an argument as PyTorch prints it inside a call.
func FormatArg(a Arg) string {
	var b strings.Builder
	writeArg(&b, a)
	return b.String()
}

func writeArg(b *strings.Builder, a Arg) {
	switch a := a.(type) {
	case nil:
		b.WriteString("None")
	case *Node:
		b.WriteString(a.Name)
	case bool:
		if a {
			b.WriteString("True")
		} else {
			b.WriteString("False")
		}
	case int64:
		b.WriteString(strconv.FormatInt(a, 10))
	case int:
		b.WriteString(strconv.Itoa(a))
	case *big.Int:
		b.WriteString(a.String())
	case float64:
		b.WriteString(FloatRepr(a))
	case complex128:
		b.WriteString(complexRepr(a))
	case string:
		b.WriteString(StringRepr(a))
	case tensor.DType:
		b.WriteString("torch." + a.String())
	case tensor.Device:
		b.WriteString("device(type=" + StringRepr(a.Type))
		if a.Index >= 0 {
			b.WriteString(", index=" + strconv.Itoa(a.Index))
		}
		b.WriteString(")")
	case tensor.Layout:
		b.WriteString("torch." + string(a))
	case tensor.MemoryFormat:
		b.WriteString("torch." + string(a))
	case Slice:
		b.WriteString("slice(")
		writeArg(b, a.Start)
		b.WriteString(", ")
		writeArg(b, a.Stop)
		b.WriteString(", ")
		writeArg(b, a.Step)
		b.WriteString(")")
	case Ellipsis:
		b.WriteString("Ellipsis")
	case List:
		b.WriteByte('[')
		writeSeq(b, a)
		b.WriteByte(']')
	case Tuple:
		b.WriteByte('(')
		writeSeq(b, a)
		if len(a) == 1 {
			b.WriteByte(',')
		}
		b.WriteByte(')')
	case Dict:
		b.WriteByte('{')
		for i, it := range a {
			if i > 0 {
				b.WriteString(", ")
			}
			writeArg(b, it.Key)
			b.WriteString(": ")
			writeArg(b, it.Val)
		}
		b.WriteByte('}')
	case SymInt:
		b.WriteString(a.Expr)
	case FnRef:
		b.WriteString(funcText(string(a)))
	default:
		panic(fmt.Sprintf("fx: %T is not an argument type", a))
	}
}

func writeSeq(b *strings.Builder, as []Arg) {
	for i, a := range as {
		if i > 0 {
			b.WriteString(", ")
		}
		writeArg(b, a)
	}
}

// FloatRepr is Python's repr of a float, with inf and nan as the names that graphs import.
func FloatRepr(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	s := strconv.FormatFloat(f, 'e', -1, 64)
	e, _ := strconv.Atoi(s[strings.IndexByte(s, 'e')+1:])
	if e < -4 || e >= 16 {
		return s
	}
	s = strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

func complexPart(f float64) string {
	return strings.TrimSuffix(FloatRepr(f), ".0")
}

func complexRepr(c complex128) string {
	re, im := real(c), imag(c)
	if re == 0 && !math.Signbit(re) {
		return complexPart(im) + "j"
	}
	s := complexPart(im)
	if s[0] != '-' {
		s = "+" + s
	}
	return "(" + complexPart(re) + s + "j)"
}

// StringRepr is Python's repr of a str.
func StringRepr(s string) string {
	q := byte('\'')
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		q = '"'
	}
	var b strings.Builder
	b.WriteByte(q)
	for _, r := range s {
		switch {
		case r == '\\' || r == rune(q):
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r < 0x20 || r == 0x7f:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x7f || unicode.IsPrint(r):
			b.WriteRune(r)
		case r <= 0xff:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	b.WriteByte(q)
	return b.String()
}

// funcText is a function as generated code names it.
func funcText(target string) string {
	switch {
	case IsOverload(target):
		return "torch.ops." + target
	case strings.HasPrefix(target, "torch.Tensor."):
		return strings.ReplaceAll(target, ".", "_")
	case strings.HasPrefix(target, "torch."), !strings.Contains(target, "."):
		return target
	case strings.HasPrefix(target, "operator."):
		return "_" + strings.ReplaceAll(target, ".", "_")
	}
	return strings.ReplaceAll(target, ".", "_")
}

// funcName is the inverse of funcText; ok is false for a name that is no function.
func funcName(text string) (name string, ok bool) {
	switch {
	case strings.HasPrefix(text, "torch.ops."):
		rest := text[len("torch.ops."):]
		if strings.Count(rest, ".") == 2 {
			return rest, true
		}
		return text, true
	case strings.HasPrefix(text, "torch_Tensor_") && !strings.Contains(text, "."):
		return "torch.Tensor." + text[len("torch_Tensor_"):], true
	case strings.HasPrefix(text, "torch."):
		return text, true
	case strings.HasPrefix(text, "_operator_") && !strings.Contains(text, "."):
		return "operator." + text[len("_operator_"):], true
	case strings.HasPrefix(text, "operator."):
		return text, true
	case strings.HasPrefix(text, "math_") && !strings.Contains(text, "."):
		return "math." + text[len("math_"):], true
	case strings.HasPrefix(text, "math."):
		return text, true
	case strings.Count(text, ".") == 0 && builtinFuncs[text]:
		return text, true
	}
	return "", false
}
