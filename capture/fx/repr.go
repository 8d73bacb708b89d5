package fx

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"whittle/capture/python/literal"
	"whittle/kernels/tensor"
)

// FormatArg writes an argument as PyTorch prints it inside a call.
func FormatArg(a Arg) string {
	var b strings.Builder
	writeArg(&b, a)
	return b.String()
}

// writeArg writes an argument as the Python that gives it back. Floats have all digits that they need, and infinities and nan are names, as in
// PyTorch.
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
		b.WriteString(literal.Float(a))
	case complex128:
		b.WriteString(literal.Complex(a))
	case string:
		b.WriteString(literal.Str(a))
	case tensor.DType:
		b.WriteString("torch." + a.String())
	case tensor.Device:
		b.WriteString("device(type=" + literal.Str(a.Type))
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
	case Range:
		fmt.Fprintf(b, "range(%d, %d", a.Start, a.Stop)
		if a.Step != 1 {
			fmt.Fprintf(b, ", %d", a.Step)
		}
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

// writeSeq writes arguments with commas between them.
func writeSeq(b *strings.Builder, as []Arg) {
	for i, a := range as {
		if i > 0 {
			b.WriteString(", ")
		}
		writeArg(b, a)
	}
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
	return strings.NewReplacer(".", "_", ":", "_").Replace(target)
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
