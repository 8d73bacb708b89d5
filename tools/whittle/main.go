// Command whittle runs PyTorch scripts through its own torch.compile stack and hands back a minimal repro when a layer fails.
package main

import (
	"os"

	"whittle/tools/whittle/cli"
)

func main() { os.Exit(cli.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
