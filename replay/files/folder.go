package files

import (
	"path/filepath"
	"regexp"
	"strings"
)

// Root is the folder, where the user stands, that results go to.
const Root = "whittle-repro"

var unfit = regexp.MustCompile(`[^A-Za-z0-9_.]+`)

// Folder is where the result of a failure goes by default: whittle-repro/NAME-SIGNATURE. source is the script or file that failed, kind a
// word or two for the failure, signature all that tells it from others.
func Folder(source, kind, signature string) string {
	base := filepath.Base(source)
	name := tidy(strings.TrimSuffix(base, filepath.Ext(base)))
	if name == "" {
		name = "program"
	}
	if kind = tidy(kind); kind == "" {
		kind = "failure"
	}
	return filepath.Join(Root, name+"-"+kind+"-"+digest(signature)[:8])
}

// tidy makes a text fit for the name of a folder.
func tidy(s string) string {
	s = strings.Trim(unfit.ReplaceAllString(s, "_"), "._")
	return s[:min(len(s), 60)]
}
