package capture

import "whittle/capture/python/vm"

// levelInfo is logging.INFO.
const levelInfo = 20

// Step logs that a part of the stack begins or ends, where torch._dynamo.config.log_level asks for it: 1 is TorchDynamo, 2 the compiler
// backend, 3 TorchInductor. The last step that began and has not ended is where an error is.
func (d *Dynamo) Step(number int, logger, text string) {
	level, err := d.configInt("log_level", levelInfo+10)
	if err != nil || level > levelInfo || level == 0 {
		return
	}
	m, err := d.In.Import("torch._dynamo.steps")
	if err != nil {
		return
	}
	log, err := d.In.GetAttr(m, "log")
	if err != nil {
		return
	}
	_, _ = d.Disabled(log, []vm.Object{vm.MakeInt(int64(number)), vm.Str(logger), vm.Str(text)}, nil) // a log that cannot be written stops nothing
}
