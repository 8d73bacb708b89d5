package capture

import (
	"errors"
	"fmt"
	"strings"

	"whittle/capture/guard"
	"whittle/capture/python/vm"
)

// backendFailed wraps a backend's error as PyTorch's BackendCompilerFailed.
func (d *Dynamo) backendFailed(err error) error {
	inner := err.Error()
	var r *vm.Raised
	cause := vm.Object(vm.None)
	if errors.As(err, &r) {
		s, serr := d.In.Str(r.Exc)
		if serr == nil {
			inner = r.Exc.Class.Name + ": " + s
		}
		cause = r.Exc
	}
	m, ierr := d.In.Import("torch._dynamo.exc")
	if ierr != nil {
		return ierr
	}
	cls, ierr := d.In.GetAttr(m, "BackendCompilerFailed")
	if ierr != nil {
		return ierr
	}
	msg := d.advised(fmt.Sprintf("backend='%s' raised:\n%s\n", d.ctx.Backend.Name, inner), true)
	exc, ierr := d.In.CallMethod(cls, "__new__", cls, vm.Str(msg)) // its own words would lack the advice
	if ierr != nil {
		return ierr
	}
	x := exc.(*vm.Exception)
	x.Cause = cause
	for name, v := range map[string]vm.Object{"inner_exception": cause, "backend_name": vm.Str(d.ctx.Backend.Name)} {
		if err := d.In.SetAttr(x, name, v); err != nil {
			return err
		}
	}
	return d.In.Raise(x)
}

// raiseAt is raise for an error of capture: the message goes on with the lines of the program that led there, and with advice.
func (d *Dynamo) raiseAt(module, class, msg string, at []guard.Place, before ...vm.Object) error {
	msg += "\n"
	stack := vm.NewList()
	if len(at) > 0 {
		msg += "\nfrom user code:\n "
		for _, p := range at {
			msg += fmt.Sprintf("  File \"%s\", line %d, in %s\n", p.Code.Filename, p.Line, p.Code.Name)
			if text := strings.TrimSpace(p.Text()); text != "" {
				msg += "    " + text + "\n"
			}
			summary, err := d.frameSummary(p)
			if err != nil {
				return err
			}
			stack.Items = append(stack.Items, summary)
		}
	}
	err := d.raise(module, class, append(before, vm.Str(d.advised(msg, len(at) > 0)))...)
	var r *vm.Raised
	if errors.As(err, &r) && len(at) > 0 {
		if serr := d.In.SetAttr(r.Exc, "real_stack", stack); serr != nil {
			return serr
		}
	}
	return err
}

// frameSummary is a place as an object of traceback.FrameSummary's kind.
func (d *Dynamo) frameSummary(p guard.Place) (vm.Object, error) {
	m, err := d.In.Import("torch._dynamo.eval_frame")
	if err != nil {
		return nil, err
	}
	cls, err := d.In.GetAttr(m, "FrameSummary")
	if err != nil {
		return nil, err
	}
	return d.In.Call(cls, []vm.Object{vm.Str(p.Code.Filename), vm.MakeInt(int64(p.Line)), vm.Str(p.Code.Name)}, nil)
}

// advised is a message of capture with PyTorch's advice, as the settings verbose and suppress_errors have it.
func (d *Dynamo) advised(msg string, traced bool) string {
	if at := d.recordedAt; at != "" && (d.ctx == nil || d.ctx.Export == nil) {
		msg += recordedText(at)
		d.recordedAt = ""
	}
	if on, err := d.configBool("verbose"); err == nil && !on && traced {
		msg += "\nSet TORCH_LOGS=\"+dynamo\" and TORCHDYNAMO_VERBOSE=1 for more information\n"
	}
	if on, err := d.configBool("suppress_errors"); err == nil && !on && (d.ctx == nil || d.ctx.Export == nil) {
		msg += "\n\nYou can suppress this exception and fall back to eager by setting:\n    import torch._dynamo\n    torch._dynamo.config.suppress_errors = True\n"
	}
	return msg
}

// recordedText says where a frame that failed was written down.
func recordedText(file string) string {
	return fmt.Sprintf("\nLast frame execution written to %[1]s. To run only this frame while debugging, run torch._dynamo.replay('%[1]s').\n", file)
}

// saysWhere has an error of capture's, which was made before its frame was written down, say where that was.
func (d *Dynamo) saysWhere(err error) error {
	at := d.recordedAt
	d.recordedAt = ""
	var r *vm.Raised
	if at == "" || !errors.As(err, &r) || r.Exc.Class.Module != "torch._dynamo.exc" {
		return err
	}
	s, serr := d.In.Str(r.Exc)
	if serr != nil {
		return err
	}
	head, advice, found := strings.Cut(s, "\nSet TORCH_LOGS=")
	s = head + recordedText(at)
	if found {
		s += "\nSet TORCH_LOGS=" + advice
	}
	if serr := d.In.SetAttr(r.Exc, "args", vm.NewTuple(vm.Str(s))); serr != nil {
		return serr
	}
	return err
}

// raise makes an exception of a class in a torch module.
func (d *Dynamo) raise(module, class string, args ...vm.Object) error {
	m, err := d.In.Import(module)
	if err != nil {
		return err
	}
	cls, err := d.In.GetAttr(m, class)
	if err != nil {
		return err
	}
	return d.In.RaiseObj(cls.(*vm.Type), args...)
}

// userErrorType is a member of torch._dynamo.exc.UserErrorType.
func (d *Dynamo) userErrorType(name string) (vm.Object, error) {
	m, err := d.In.Import("torch._dynamo.exc")
	if err != nil {
		return nil, err
	}
	kinds, err := d.In.GetAttr(m, "UserErrorType")
	if err != nil {
		return nil, err
	}
	return d.In.GetAttr(kinds, name)
}
