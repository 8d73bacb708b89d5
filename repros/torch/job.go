package torch

import (
	"encoding/json"

	"whittle/replay"
)

// job is one request, as far/serve.py reads it. Op says which of its parts is there.
type job struct {
	ID    int64    `json:"id"`
	Op    string   `json:"op"`              // hello, attach, reset, have, put, run, fresh, explore, elements, export, diverge, code, measure, ping, cancel
	Needs []string `json:"needs,omitempty"` // storages that have to be held before it begins
	Facts *known   `json:"facts,omitempty"` // hello
	Cwd   string   `json:"cwd,omitempty"`   // attach: the folder of who comes
	*subject
	*piece
	*wanted
}

// known is what a Python is told when it starts.
type known struct {
	ISAOK bool   `json:"isa_ok"`         // its vector instructions were tried
	Old   string `json:"old"`            // folder of the one before, which is gone
	Home  string `json:"home,omitempty"` // of one that is kept: the folder that its command is started in
	Held  int64  `json:"held"`           // bytes of storages that it keeps; 0 => its default
}

// subject is the repro that a job is about: run, fresh, explore, diverge, code, measure.
type subject struct {
	Nonce          string             `json:"nonce,omitempty"`
	Text           string             `json:"text"`
	Stage          string             `json:"stage"`
	Backend        string             `json:"backend,omitempty"`
	Accuracy       string             `json:"accuracy,omitempty"`
	Tracing        string             `json:"tracing,omitempty"`
	Autocast       bool               `json:"autocast,omitempty"`
	OnlyFwd        bool               `json:"only_fwd,omitempty"`
	Derived        map[string]Derived `json:"derived,omitempty"`
	Threads        int                `json:"threads"`
	Slots          int                `json:"slots,omitempty"` // run: how many of these are at work at a time; 0 => as many as there are processors
	CompileThreads int                `json:"compile_threads,omitempty"`
	Limits         limits             `json:"limits"`
	Locate         bool               `json:"locate,omitempty"`
	Idle           bool               `json:"idle,omitempty"`
	Until          string             `json:"until,omitempty"`
	Choose         *replay.Choose     `json:"choose,omitempty"`
	Inputs         []string           `json:"inputs"`                // explore: what load_args gives, in its order
	OnlyInputs     bool               `json:"only_inputs,omitempty"` // explore: does not run the graph
	Storages       []string           `json:"storages,omitempty"`
	SaveDir        string             `json:"save_dir,omitempty"`
	Tolerance      float64            `json:"tolerance,omitempty"`
	IgnoreNonFP    bool               `json:"ignore_non_fp,omitempty"`
	Strict         bool               `json:"strict,omitempty"`
	Repeats        int                `json:"repeats,omitempty"` // measure: of each timing
}

// limits are those of one job, in seconds and bytes; 0 for none.
type limits struct {
	Load      float64 `json:"load"`
	Eager     float64 `json:"eager"`
	Compile   float64 `json:"compile"`
	Run       float64 `json:"run"`
	Compare   float64 `json:"compare"`
	RunFactor float64 `json:"run_factor"`
	RunFloor  float64 `json:"run_floor"`
	CPU       float64 `json:"cpu"`
	Memory    int64   `json:"memory"`
}

// piece is a part of a storage's bytes: put.
type piece struct {
	Hash string `json:"hash"`
	Data string `json:"data"` // base64
	More bool   `json:"more"` // others came before
	Last bool   `json:"last"`
}

// wanted is what is read from a held storage: elements, export.
type wanted struct {
	Of      *View    `json:"of,omitempty"`      // elements
	Storage string   `json:"storage,omitempty"` // export: its hash
	As      *Derived `json:"as,omitempty"`      // export: what is made of it
}

// answer is one message from the far side. Result is decoded by whoever asked.
type answer struct {
	ID     int64              `json:"id"`
	Result json.RawMessage    `json:"result"`
	Spent  map[string]float64 `json:"spent"` // seconds by engine's kinds, of the child that did the job
	// Missing are storages that the job needs and the far side does not hold; the job was not begun.
	Missing []string `json:"missing"`
}
