package aten

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// An Effect is what a call does that its schema does not show. A schema shows what is written to and what shares memory; see Facts.
type Effect uint8

// The effects. A row has exactly one: schemas.tsv has a letter for each.
const (
	UnknownEffect Effect = iota // no row has said yet; asking for it panics
	Pure                        // none: the results depend on the arguments alone
	Random                      // draws from a random stream: torch.Tag.nondeterministic_seeded
	Lasting                     // checks something, or reads or changes a state that outlives the call
	Uninitialised               // gives memory that nothing was written to
)

var effectLetters = map[rune]Effect{'N': Pure, 'R': Random, 'A': Lasting, 'U': Uninitialised}

// Facts are what a caller may have to know of an operator before it drops, repeats or moves a call. Arguments are positions in Sig. Facts do not
// change once they are made.
type Facts struct {
	Sig    *Schema // nil for a function of which only the effect is known
	Effect Effect
	// Writes are the arguments that the schema marks as written to: Tensor(a!).
	Writes []int
	// Updates are running statistics, which schemas leave unmarked. A call that trains writes to those that it is given.
	Updates []int
	// Metadata are the arguments whose sizes, strides and dtype alone are read, and no element.
	Metadata []int
	// Aliases are the results that share memory with an argument: views, and what is written to and returned.
	Aliases []Alias

	trains  []int // flags that switch training on: false => nothing is drawn, nothing is updated
	doses   []int // probabilities of dropping: 0 => nothing is drawn
	inplace int   // the flag that has the first argument overwritten; -1 => none
	maxNorm int   // the norm that rows of the argument weight are cut to in place; -1 => none
}

// An Alias says that a result shares memory with an argument, or may, as that of reshape. For lists, elements do.
type Alias struct{ Result, Arg int }

// metadata lists the operators, or single overloads, that read nothing but the metadata of an argument, by the argument's name.
var metadata = func() map[string]string {
	m := map[string]string{}
	for arg, names := range map[string]string{
		"self": `zeros_like ones_like full_like empty_like rand_like randn_like randint_like new_zeros new_ones new_full new_empty new_empty_strided
			sym_size sym_numel sym_stride sym_storage_offset size fill copy zero
			bernoulli.p bernoulli.Tensor cauchy exponential geometric log_normal normal_functional random uniform`,
		"other":        "expand_as reshape_as to.other type_as view_as",
		"the_template": "resize_as resize_as_",
	} {
		for _, n := range strings.Fields(names) {
			m[n] = arg
		}
	}
	return m
}()

// updating lists the operators that update running statistics without their schemas' saying so.
var updating = setOfNames(`native_batch_norm batch_norm instance_norm _batch_norm_impl_index batch_norm_gather_stats batch_norm_gather_stats_with_counts
	batch_norm_update_stats`)

func setOfNames(names string) map[string]bool {
	m := map[string]bool{}
	for _, n := range strings.Fields(names) {
		m[n] = true
	}
	return m
}

// FactsOf are the facts of a function with the given signature and effect. Operators have theirs already: see Op.Facts. The names of the
// arguments count: a random function draws nothing where train or training is false, or where dropout or dropout_p is 0; inplace, if true, has
// the first argument overwritten, and max_norm, if given, the weight.
func FactsOf(s *Schema, e Effect) *Facts {
	f := &Facts{Sig: s, Effect: e, inplace: -1, maxNorm: -1}
	for i, a := range s.Args {
		if a.Write() {
			f.Writes = append(f.Writes, i)
		}
		if a.Name == metadata[s.Name] || a.Name == metadata[s.Name+"."+s.Overload] {
			f.Metadata = append(f.Metadata, i)
		}
		switch a.Name {
		case "train", "training", "use_input_stats":
			f.trains = append(f.trains, i)
		case "dropout", "dropout_p":
			f.doses = append(f.doses, i)
		case "inplace":
			f.inplace = i
		case "max_norm":
			if s.Arg("weight") >= 0 {
				f.maxNorm = i
			}
		case "running_mean", "running_var":
			if updating[s.Name] {
				f.Updates = append(f.Updates, i)
			}
		}
		if set := aliasSet(a.Alias); set != "" {
			for k, r := range s.Returns {
				if aliasSet(r.Alias) == set {
					f.Aliases = append(f.Aliases, Alias{Result: k, Arg: i})
				}
			}
		}
	}
	return f
}

// aliasSet is the name of an alias annotation's set: a for "a!" and for "a -> *".
func aliasSet(alias string) string {
	set, _, _ := strings.Cut(alias, " ")
	return strings.TrimSuffix(set, "!")
}

// Given are the facts of a call with certain arguments: Updates is empty, and Writes holds all that is written to. value is the constant that
// an argument is; ok is false where that is not known.
func (f *Facts) Given(value func(arg int) (v Value, ok bool)) Facts {
	r := *f
	r.Updates = nil
	trains := f.Trains(value)
	if r.Effect == Random && (!trains || anyArg(f.doses, value, isZero)) {
		r.Effect = Pure
	}
	if trains {
		for _, i := range f.Updates {
			if v, ok := value(i); !ok || v != nil {
				r.Writes = append(r.Writes[:len(r.Writes):len(r.Writes)], i)
			}
		}
	}
	if f.inplace >= 0 {
		if v, ok := value(f.inplace); !ok || v == Value(true) {
			r.Writes = append(r.Writes[:len(r.Writes):len(r.Writes)], 0)
		}
	}
	if f.maxNorm >= 0 {
		if v, ok := value(f.maxNorm); !ok || v != nil {
			r.Writes = append(r.Writes[:len(r.Writes):len(r.Writes)], f.Sig.Arg("weight"))
		}
	}
	return r
}

// Switches are the arguments that switch drawing off: a random call with one of them False or 0 draws nothing.
func (f *Facts) Switches() []int { return append(slices.Clone(f.trains), f.doses...) }

// Trains reports whether a call with certain arguments trains, or may: no flag that says so is false. Only then it updates running statistics, and
// drops at random. value is as for Given.
func (f *Facts) Trains(value func(arg int) (v Value, ok bool)) bool {
	return !anyArg(f.trains, value, func(v Value) bool { return v == Value(false) })
}

// anyArg reports whether one of the arguments is known, and is such.
func anyArg(args []int, value func(arg int) (Value, bool), is func(Value) bool) bool {
	return slices.ContainsFunc(args, func(i int) bool {
		v, ok := value(i)
		return ok && is(v)
	})
}

// tags are those that follow from what a call writes to and what its results share memory with.
func (f *Facts) tags() (t Tag) {
	for _, i := range f.Writes {
		switch {
		case f.Sig.Args[i].KwOnly:
			t |= OutVariant
		case i == 0:
			t |= Inplace
		}
	}
	if slices.ContainsFunc(f.Aliases, func(a Alias) bool { return a.Result == 0 && !slices.Contains(f.Writes, a.Arg) }) {
		t |= View
	}
	return t
}

// Fixed reports whether the facts are those of every call, whatever its arguments.
func (f *Facts) Fixed() bool {
	return f.inplace < 0 && f.maxNorm < 0 && len(f.Updates) == 0 && (f.Effect != Random || len(f.trains)+len(f.doses) == 0)
}

func isZero(v Value) bool { return v == Value(0.0) || v == Value(int64(0)) || v == Value(false) }

// Facts are the operator's. They panic for a row of which nobody has said what effect it has.
func (op *Op) Facts() *Facts {
	if op.facts == nil || op.facts.Effect == UnknownEffect {
		panic(fmt.Sprintf("aten: no row says what effect %s has", op.Name()))
	}
	return op.facts
}

// Declared are the facts of all operators that PyTorch declares, also of those without a row here, in the order of declaration. Callers must not
// change the list.
func Declared() []*Facts { return declared() }

var declared = sync.OnceValue(func() []*Facts {
	var all []*Facts
	rows := theRegistry().ops
	for _, l := range strings.Split(schemasTSV+"\n"+pythonOnlyTSV, "\n") {
		flags, text, ok := strings.Cut(l, "\t")
		if !ok {
			continue
		}
		var f *Facts
		if op := rows[text[:strings.IndexByte(text, '(')]]; op != nil {
			f = op.facts
		} else if s, err := ParseSchema(text); err == nil { // a test demands no error
			f = FactsOf(s, effectOf(flags))
		} else {
			continue
		}
		all = append(all, f)
	}
	return all
})

// effectOf is the effect that the flags of a line have the letter of.
func effectOf(flags string) Effect {
	for _, c := range flags {
		if e, ok := effectLetters[c]; ok {
			return e
		}
	}
	return UnknownEffect
}
