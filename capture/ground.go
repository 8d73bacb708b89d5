package capture

import (
	"whittle/capture/guard"
	"whittle/capture/python/vm"
	"whittle/capture/sizes"
	"whittle/capture/source"
	"whittle/capture/symbolic"
	"whittle/capture/torch"
)

// ground is what all parts of one trace stand on: the session, the frame that is captured, and what is written down of it. Parts
// embed it. The pointers stay as they are for the whole trace.
type ground struct {
	d    *Dynamo
	in   *vm.Interp
	t    *torch.Torch
	env  *source.Env // of the real frame: what sources are read from
	root *vm.Frame   // the copy of the frame that is captured

	guards   *guard.Draft   // the facts that the trace relied on so far
	unknowns *symbolic.Env  // the numbers that may differ from call to call
	sizes    *sizes.Tracker // the sizes of stand-ins in terms of those

	state globalState // on entry
	depth int         // of calls of the torch API and of plain Python that are being run; inside of them nothing is captured
	ended bool        // the frame has run
}

func newGround(d *Dynamo, root *vm.Frame, e *source.Env) *ground {
	unknowns := symbolic.NewEnv()
	return &ground{d: d, in: d.In, t: d.T, env: e, root: root, unknowns: unknowns, sizes: sizes.New(unknowns), state: d.globalState(d.T.Grad.Enabled())}
}

// listening reports whether what the interpreter does now is done by traced code: not by the API that it calls, nor by another trace.
func (gr *ground) listening() bool {
	return gr.d.active != nil && gr.d.active.ground == gr && gr.depth == 0 && !gr.ended
}
