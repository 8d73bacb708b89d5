package cli

import (
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"whittle/repros"
)

// checkpoints is the folder of storages beside a repro file.
const checkpoints = "checkpoints"

// crashData bounds the bytes of inputs that are written before each step that may take the process down; nobody can write them after it.
const crashData = 8 << 20

// dataFolder is where the process of a script leaves the inputs of graphs for its parent, who removes it.
type dataFolder struct {
	path  string
	steps int
}

// step is a new folder for the inputs of one graph, of which at most bound bytes are written.
func (d *dataFolder) step(bound int64) *inputData {
	d.steps++
	return &inputData{dir: filepath.Join(d.path, strconv.Itoa(d.steps)), left: bound}
}

// room is how many bytes the inputs of a failed graph may have: half of what is free.
func (d *dataFolder) room() int64 {
	var fs unix.Statfs_t
	if unix.Statfs(d.path, &fs) != nil {
		return crashData
	}
	return int64(fs.Bavail) * fs.Bsize / 2
}

// inputData are the inputs of one graph: storages below dir/checkpoints, where a repro in dir looks for them.
type inputData struct {
	dir    string
	left   int64
	hashes []string
	err    error // the first that kept data from being written
}

// put is repros.FromTensors': what does not fit, and what cannot be written, has no hash.
func (d *inputData) put(data []byte) (string, error) {
	if int64(len(data)) > d.left || len(data) == 0 || d.err != nil {
		return "", nil
	}
	var hash string
	if hash, d.err = repros.WriteStorage(filepath.Join(d.dir, checkpoints), data); d.err != nil {
		return "", nil
	}
	d.left -= int64(len(data))
	d.hashes = append(d.hashes, hash)
	return hash, nil
}

// save saves the data for the repro file at path, for good.
func (d *inputData) save(path string) error {
	return repros.SaveStorages(filepath.Join(d.dir, checkpoints), filepath.Join(filepath.Dir(path), checkpoints))
}

// drop removes the data. What stays in spite of that goes with the parent's folder.
func (d *inputData) drop() {
	if len(d.hashes) > 0 {
		_ = os.RemoveAll(d.dir)
	}
}
