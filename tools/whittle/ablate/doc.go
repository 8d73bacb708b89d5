// Package ablate finds the layer of torch.compile's stack that makes a program fail, drift or crawl: it has the program run with one layer more each
// time, from eager on, and compares what its compiled calls returned, raised and took.
//
// In goes a way to run the program (exec.Run, or a test's), out comes a Report. What differs from run to run is put into the program's process by the
// hook of package exec, so that the program itself stays as it is. This is what PyTorch's guide calls ablation; see Layers for the order.
// It does not say which node, setting or change inside a layer decides: see package bisect.
package ablate
