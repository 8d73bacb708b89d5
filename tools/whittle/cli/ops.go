package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"whittle/aot/autograd"
	"whittle/aot/decomp"
	"whittle/kernels/aten"
	"whittle/lowering"
	"whittle/replay"
)

// operator is one row of `whittle ops`: what each layer has of it.
type operator struct {
	Name       string   `json:"name"`
	Schema     string   `json:"schema"`
	Tags       []string `json:"tags,omitempty"`
	Eager      string   `json:"eager"`      // kernel or parts
	Meta       string   `json:"meta"`       // function or parts
	Derivative string   `json:"derivative"` // see autograd.How
	Inductor   string   `json:"inductor"`   // decomposed, or what lowering.Kind says
}

// tagNames are the tags that are shown, in order, and one effect among them.
var tagNames = []struct {
	tag    aten.Tag
	effect aten.Effect // set where tag is not
	name   string
}{
	{tag: aten.Core, name: "core"}, {tag: aten.Pointwise, name: "pointwise"}, {tag: aten.Reduction, name: "reduction"}, {tag: aten.View, name: "view"},
	{tag: aten.Inplace, name: "inplace"}, {tag: aten.OutVariant, name: "out"}, {effect: aten.Random, name: "random"},
	{tag: aten.Composite, name: "composite"}, {tag: aten.DataDependent, name: "data-dependent"}, {tag: aten.Factory, name: "factory"},
}

func layersOf(op *aten.Op) operator {
	o := operator{Name: op.Name(), Schema: op.Schema, Eager: "kernel", Meta: "function", Derivative: string(autograd.Derivative(op)), Inductor: lowering.Kind(op)}
	for _, t := range tagNames {
		if t.tag != 0 && op.Has(t.tag) || t.effect != aten.UnknownEffect && op.Facts().Effect == t.effect {
			o.Tags = append(o.Tags, t.name)
		}
	}
	if op.Eager == nil {
		o.Eager = "parts"
	}
	if op.Meta == nil {
		o.Meta = "parts"
	}
	if _, ok := decomp.Inductor[op.Name()]; ok || op.Has(aten.Composite) {
		o.Inductor = "decomposed"
	}
	return o
}

func (a *app) opsCommand() *cobra.Command {
	var asJSON, core, variants, missing bool
	cmd := &cobra.Command{
		Use:   "ops [NAME]",
		Short: "List the operators, and what each layer has of them",
		Long: `List the operators whose name contains NAME, and what each layer has of them: an eager kernel or parts that it is made of, a meta
function, a derivative, and what lowering does with it (decomposed, loop, reduction, view, or extern for the eager kernel).`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			var rows []operator
			for _, op := range aten.All() {
				if len(args) == 1 && !strings.Contains(op.Name(), args[0]) || core && !op.Has(aten.Core) || !variants && op.Has(aten.OutVariant) {
					continue
				}
				if missing && autograd.Derivative(op) != autograd.NotDerived {
					continue
				}
				rows = append(rows, layersOf(op))
			}
			if asJSON {
				e := json.NewEncoder(a.stdout)
				e.SetEscapeHTML(false) // schemas have arrows
				return e.Encode(rows)
			}
			w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "operator\teager\tmeta\tderivative\tinductor\ttags")
			for _, o := range rows {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", o.Name, o.Eager, o.Meta, o.Derivative, o.Inductor, strings.Join(o.Tags, ","))
			}
			if err := w.Flush(); err != nil {
				return err
			}
			_, err := fmt.Fprintf(a.stdout, "%s\n", replay.Count(len(rows), "operator"))
			return err
		},
	}
	f := cmd.Flags()
	f.BoolVar(&asJSON, "json", false, "print JSON, with the schemas")
	f.BoolVar(&core, "core", false, "only Core ATen")
	f.BoolVar(&variants, "out", false, "out= forms, too")
	f.BoolVar(&missing, "no-derivative", false, "only those that backward cannot go through")
	return cmd
}
