package minify

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"whittle/capture/fx"
)

// kinds has an edit of each type: how a journal writes them, and reads them back.
var kinds = byName(Alone{}, AlonePlain{}, AloneSmall{}, AsInputs{}, AsLeaf{}, Become{}, Bridge{}, Bypass{}, BypassInBodies{}, Concrete{}, Contiguous{}, Cut{}, DeadCode{}, Defaults{}, DropInputs{}, DropOutputs{},
	DropRegions{}, DropSettings{}, Fills{}, Inline{}, NoGrad{}, Number{}, Resize{}, Shortcut{}, SimplerDTypes{}, Together{}, Uncast{}, Unwrap{}, WrittenDown{}, Zero{})

func byName(edits ...Edit) map[string]reflect.Type {
	m := map[string]reflect.Type{}
	for _, e := range edits {
		t := reflect.TypeOf(e)
		m[t.Name()] = t
	}
	return m
}

// MarshalEdit writes an edit as JSON: an object with its type's name, and under it the edit's fields. It is an error if there is no such type.
func MarshalEdit(e Edit) ([]byte, error) {
	if m, ok := e.(made); ok {
		e = m.Together
	}
	name := reflect.TypeOf(e).Name()
	if kinds[name] != reflect.TypeOf(e) {
		return nil, fmt.Errorf("minify: %T is no edit that a journal knows", e)
	}
	return json.Marshal(map[string]Edit{name: e})
}

// UnmarshalEdit reads what MarshalEdit wrote.
func UnmarshalEdit(text []byte) (Edit, error) {
	var one map[string]json.RawMessage
	if err := json.Unmarshal(text, &one); err != nil {
		return nil, fmt.Errorf("minify: an edit: %w", err)
	}
	if len(one) != 1 {
		return nil, fmt.Errorf("minify: an edit has one type, not %d", len(one))
	}
	for name, fields := range one {
		t, ok := kinds[name]
		if !ok {
			return nil, fmt.Errorf("minify: an edit of type %q is not known", name)
		}
		e := reflect.New(t)
		d := json.NewDecoder(bytes.NewReader(fields))
		d.DisallowUnknownFields()
		if err := d.Decode(e.Interface()); err != nil {
			return nil, fmt.Errorf("minify: an edit of type %s: %w", name, err)
		}
		return e.Elem().Interface().(Edit), nil
	}
	return nil, errors.New("minify: no edit")
}

// togetherText is Together as JSON.
type togetherText struct {
	Name  string            `json:",omitempty"`
	Parts []json.RawMessage // of edits
	Only  bool              `json:",omitempty"`
}

// MarshalJSON writes the parts as MarshalEdit does.
func (e Together) MarshalJSON() ([]byte, error) {
	t := togetherText{Name: e.Name, Only: e.Only}
	for _, p := range e.Parts {
		b, err := MarshalEdit(p)
		if err != nil {
			return nil, err
		}
		t.Parts = append(t.Parts, b)
	}
	return json.Marshal(t)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (e *Together) UnmarshalJSON(text []byte) error {
	var t togetherText
	if err := json.Unmarshal(text, &t); err != nil {
		return err
	}
	*e = Together{Name: t.Name, Only: t.Only}
	for _, p := range t.Parts {
		part, err := UnmarshalEdit(p)
		if err != nil {
			return err
		}
		e.Parts = append(e.Parts, part)
	}
	return nil
}

// adapterText is Adapter as JSON: arguments are the text that a graph has for them.
type adapterText struct {
	Overload string   `json:",omitempty"`
	Method   string   `json:",omitempty"`
	Args     []string `json:",omitempty"`
}

// MarshalJSON writes the arguments as a graph's text does.
func (a Adapter) MarshalJSON() ([]byte, error) {
	t := adapterText{Overload: a.Overload, Method: a.Method}
	for _, x := range a.Args {
		t.Args = append(t.Args, fx.FormatArg(x))
	}
	return json.Marshal(t)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (a *Adapter) UnmarshalJSON(text []byte) error {
	var t adapterText
	if err := json.Unmarshal(text, &t); err != nil {
		return err
	}
	*a = Adapter{Overload: t.Overload, Method: t.Method}
	for _, x := range t.Args {
		v, err := fx.ParseArg(x)
		if err != nil {
			return err
		}
		a.Args = append(a.Args, v)
	}
	return nil
}
