package cli

import (
	"fmt"
	"os"
	"path/filepath"

	"whittle/replay"
	"whittle/replay/files"
)

// place says where a result goes.
type place struct {
	file   string // named by the user; "" => a folder of its own below whittle-repro
	source string // the script or file that failed
}

// repro is the path of the repro of a failure.
func (p place) repro(s replay.Signature) string {
	if p.file != "" {
		return p.file
	}
	return filepath.Join(folder(p.source, s), "repro.py")
}

// folder is where results go for which the command line has no place: $TORCHDYNAMO_REPRO_DIR, else one for each script and failure.
func folder(source string, s replay.Signature) string {
	if dir := os.Getenv("TORCHDYNAMO_REPRO_DIR"); dir != "" {
		return dir
	}
	return files.Folder(source, s.Type, s.String())
}

// stays tells the user that a file has another name than was asked for.
func (a *app) stays(asked, got string) {
	if asked != got {
		fmt.Fprintf(a.stderr, "whittle: %s is not what whittle wrote for this failure: it stays as it is\n", asked)
	}
}
