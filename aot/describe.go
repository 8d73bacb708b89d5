package aot

import (
	"fmt"
	"strings"

	"whittle/aot/autograd"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// record is a Python object as its repr shows it: a class and its fields.
type record struct {
	class  string
	fields []field
}

type field struct {
	name  string
	value any // a record, a list of any, or a text
}

// describe is what the trace found out about the function's inputs and results, and about its graphs, in PyTorch's words. numbers is how many are saved for the backward graph, -1
// where there is none.
func (j *Joint) describe(returned bool, numbers int, donated []int) record {
	outs := make([]any, 0, len(j.Outputs))
	for _, o := range j.Outputs {
		outs = append(outs, j.outputRecord(o))
	}
	var ins, inMeta, tangents []any
	for i, in := range j.Inputs {
		ins = append(ins, j.inputRecord(i, in, returned))
		inMeta = append(inMeta, plainMeta(i, "None"))
	}
	var outMeta, tangentMeta []any
	for i := range j.NForward {
		outMeta = append(outMeta, plainMeta(i, "None"))
	}
	for _, p := range j.GM.Graph.Placeholders() {
		if x, ok := p.Val.(*tensor.Tensor); ok && IsTangent(p) {
			tangents = append(tangents, fakeText(x))
			tangentMeta = append(tangentMeta, plainMeta(len(tangentMeta), "torch.contiguous_format"))
		}
	}
	saved, given := "None", "None"
	if numbers >= 0 {
		saved = fmt.Sprint(numbers)
	}
	if donated != nil {
		given = strings.ReplaceAll(fmt.Sprint(donated), " ", ", ")
	}
	return record{"ViewAndMutationMeta", []field{{"input_info", ins}, {"output_info", outs}, {"num_intermediate_bases", fmt.Sprint(len(j.Bases))}, {"keep_input_mutations", python(!returned)},
		{"traced_tangents", tangents}, {"subclass_inp_meta", inMeta}, {"subclass_fw_graph_out_meta", outMeta}, {"subclass_tangent_meta", tangentMeta}, {"is_train", python(j.Tangents > 0)},
		{"traced_tangent_metas", "None"}, {"num_symints_saved_for_bw", saved}, {"grad_enabled_mutation", "None"}, {"deterministic", "False"}, {"static_input_indices", "[]"}, {"tokens", "{}"},
		{"indices_of_inputs_that_requires_grad_with_mutations_in_bw", "[]"}, {"bw_donated_idxs", given}, {"num_backward_tokens", "0"}}}
}

// oneLine is a column from which everything fits on its line.
const oneLine = -1 << 20

func (j *Joint) inputRecord(i int, in Input, returned bool) record {
	data, meta, hidden := false, false, true
	for _, m := range j.Mutated {
		if m.Input == i {
			data, meta = m.Data, m.Meta
			hidden = !m.Grad
		}
	}
	for _, k := range j.InGraph {
		data = data || k == i
	}
	leaf := true
	if t, ok := in.Value.(*tensor.Tensor); ok && t != nil {
		leaf = autograd.IsLeaf(t)
	}
	return record{"InputAliasInfo", []field{{"is_leaf", python(leaf)}, {"mutates_data", python(data)}, {"mutates_metadata", python(meta)}, {"mutations_hidden_from_autograd", python(hidden)},
		{"mutations_under_no_grad_or_inference_mode", "False"}, {"mutation_inductor_storage_resize", "False"}, {"mutates_storage_metadata", "False"},
		{"requires_grad", python(in.RequiresGrad)}, {"keep_input_mutations", python(!returned)}}}
}

// outputTypes are the names of output kinds; a constant is no alias of anything.
var outputTypes = map[OutputKind]string{FromGraph: "non_alias: 1", IsInput: "is_input: 3", AliasOfInput: "alias_of_input: 2", AliasOfValue: "alias_of_intermediate: 5", ConstantOut: "non_alias: 1"}

func (j *Joint) outputRecord(o OutputInfo) record {
	base, class := "None", "torch._subclasses.functional_tensor.FunctionalTensor"
	switch o.Kind {
	case IsInput, AliasOfInput:
		base = fmt.Sprint(o.Input)
	case AliasOfValue:
		base = fmt.Sprint(o.Base)
	case ConstantOut:
		class = constantClass(o.Const)
	}
	return record{"OutputAliasInfo", []field{{"output_type", "<OutputType." + outputTypes[o.Kind] + ">"}, {"raw_type", "<class '" + class + "'>"}, {"base_idx", base}, {"dynamic_dims", setOf(o.Dynamic)},
		{"requires_grad", python(o.RequiresGrad || o.Kind == AliasOfInput && !o.Detached && o.Input < len(j.Inputs) && j.Inputs[o.Input].RequiresGrad)}, {"functional_tensor", "None"}}}
}

// setOf is a set of ints as Python writes it.
func setOf(ns []int) string {
	if len(ns) == 0 {
		return "set()"
	}
	return "{" + strings.Trim(strings.ReplaceAll(fmt.Sprint(ns), " ", ", "), "[]") + "}"
}

// constantClass is the class of a result that is no tensor.
func constantClass(v aten.Value) string {
	switch v.(type) {
	case nil:
		return "NoneType"
	case bool:
		return "bool"
	case int64:
		return "int"
	case float64:
		return "float"
	}
	return "object"
}

func plainMeta(i int, format string) record {
	return record{"PlainTensorMeta", []field{{"unwrapped_idx", fmt.Sprint(i)}, {"memory_format", format}}}
}

// fakeText is a fake tensor as PyTorch prints it.
func fakeText(t *tensor.Tensor) string {
	size := make([]string, len(t.Shape))
	for i, n := range t.Shape {
		size[i] = fmt.Sprint(n)
	}
	text := "FakeTensor(..., size=(" + strings.Join(size, ", ")
	if len(size) == 1 {
		text += ","
	}
	text += ")"
	if t.DType != tensor.Float32 {
		text += ", dtype=torch." + t.DType.String()
	}
	return text + ")"
}

// laidOut writes a value that begins in a column: on one line where that has room for it, else with each field or item on lines of its own, as
// Python's pprint does.
func laidOut(v any, column int) string {
	var parts []string
	var open, end string
	inner := column
	write := func(layout bool) {
		parts = parts[:0]
		at := func(s string) int {
			if layout {
				return inner + len(s)
			}
			return oneLine
		}
		switch v := v.(type) {
		case record:
			open, end, inner = v.class+"(", ")", column+len(v.class)+1
			for _, f := range v.fields {
				parts = append(parts, f.name+"="+laidOut(f.value, at(f.name+"=")))
			}
		case []any:
			open, end = "[", "]"
			for _, x := range v {
				parts = append(parts, laidOut(x, at("")))
			}
		}
	}
	if text, ok := v.(string); ok {
		return text
	}
	write(false)
	if line := open + strings.Join(parts, ", ") + end; column+len(line) < 80 {
		return line
	}
	write(true)
	return open + strings.Join(parts, ",\n"+strings.Repeat(" ", inner)) + end
}
