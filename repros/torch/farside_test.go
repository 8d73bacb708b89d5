package torch

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sourcegraph/conc"

	"whittle/repros/engine"
)

// farSideEnv makes the test binary a far side: it speaks as far/serve.py does, has no torch, and misbehaves as it is told.
const farSideEnv = "WHITTLE_TEST_FAR_SIDE"

func TestMain(m *testing.M) {
	if text := os.Getenv(farSideEnv); text != "" {
		var s farSpec
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			panic(err)
		}
		(&farSide{spec: s, held: map[string][]byte{}, parts: map[string][]byte{}, open: map[int64]bool{}}).main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// farSpec is what all far sides of one engine are told.
type farSpec struct {
	Home        string // where they have their folders
	Seed        uint64
	Bad         int    // so many of them misbehave, the first ones
	Step, Fault string // what they do, and where; "" to draw it
	Most        int    // storages that are held; 0 for any number
	Refuses     string // why nobody can visit
}

// The steps of the protocol, and what may go wrong at each. Steps before the first job know no answers.
var (
	farStarts = []string{"boot", "program", "hello", "welcome"}
	farJobs   = []string{"have", "put", "explore", "run", "fresh", "elements", "export", "cancel", "ping"}
	farEnds   = []string{"killed", "refuses", "hangs", "hangs deaf", "garbled", "huge", "half", "slow", "closes its output", "closes its input", "no json"}
	farTalks  = []string{"twice", "wrong id", "no answer", "forgets", "no outcome"}
)

type farSide struct {
	spec  farSpec
	step  string // at which it misbehaves
	fault string
	after int // so many times it does not

	mu    sync.Mutex
	held  map[string][]byte
	used  []string // hashes, least recently used first
	parts map[string][]byte
	open  map[int64]bool // jobs that are not answered
	jobs  conc.WaitGroup
}

// number counts the far sides of one engine.
func (f *farSide) number() int {
	file, err := os.OpenFile(filepath.Join(f.spec.Home, "starts"), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o666)
	if err != nil {
		panic(err)
	}
	defer file.Close()
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		panic(err)
	}
	st, err := file.Stat()
	if err != nil {
		panic(err)
	}
	if _, err := file.WriteString("x"); err != nil {
		panic(err)
	}
	return int(st.Size())
}

// folder makes a folder that is locked for as long as its owner lives, and removes those without one.
func (f *farSide) folder() string {
	dirs, _ := filepath.Glob(filepath.Join(f.spec.Home, "far-*"))
	for _, d := range dirs {
		if lock, err := os.Open(filepath.Join(d, "lock")); err == nil {
			if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
				os.RemoveAll(d)
			}
			lock.Close()
		}
	}
	dir, err := os.MkdirTemp(f.spec.Home, "new-") // far- once it is locked: who is killed before has nothing that another could tell from one in use
	if err != nil {
		panic(err)
	}
	lock, err := os.Create(filepath.Join(dir, "lock"))
	if err != nil {
		panic(err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil { // held until the process ends
		panic(err)
	}
	locked := strings.Replace(dir, "new-", "far-", 1)
	if err := os.Rename(dir, locked); err != nil {
		panic(err)
	}
	return locked
}

func (f *farSide) main() {
	n := f.number()
	if rng := rand.New(rand.NewPCG(f.spec.Seed, uint64(n))); n < f.spec.Bad {
		f.step, f.fault = f.spec.Step, f.spec.Fault
		if f.step == "" {
			if rng.IntN(4) == 0 {
				f.step, f.fault = pick(rng, farStarts), pick(rng, farEnds)
			} else {
				f.step, f.fault, f.after = pick(rng, append([]string{"run", "run", "run"}, farJobs...)), pick(rng, append(farTalks, farEnds...)), rng.IntN(6)
			}
		}
	}
	dir := f.folder()
	defer os.RemoveAll(dir)
	term := make(chan os.Signal, 1)
	signal.Notify(term, syscall.SIGTERM)
	f.jobs.Go(func() {
		<-term
		os.RemoveAll(dir)
		os.Exit(0)
	})
	f.misbehaves("boot", 0)
	in := bufio.NewReader(os.Stdin)
	line, err := in.ReadString('\n')
	if err != nil {
		return
	}
	size, err := strconv.Atoi(line[:len(line)-1])
	if err != nil {
		panic(err)
	}
	if _, err := in.Discard(size); err != nil {
		return
	}
	f.misbehaves("program", 0)
	hello, err := f.read(in)
	if err != nil {
		return
	}
	f.misbehaves("hello", 0)
	if facts, ok := hello["facts"].(map[string]any); ok {
		if old, _ := facts["old"].(string); old != "" {
			os.RemoveAll(old)
		}
	}
	f.say(map[string]any{"id": 0, "result": map[string]any{"torch": "0", "threads": 1, "memory": 1 << 30, "tmp": dir, "pid": os.Getpid()}})
	f.misbehaves("welcome", 0)
	for {
		j, err := f.read(in)
		if err != nil {
			return
		}
		f.take(j)
	}
}

func pick(rng *rand.Rand, from []string) string { return from[rng.IntN(len(from))] }

func (f *farSide) read(in *bufio.Reader) (map[string]any, error) {
	var head [4]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return nil, err
	}
	body := make([]byte, binary.BigEndian.Uint32(head[:]))
	if _, err := io.ReadFull(in, body); err != nil {
		return nil, err
	}
	var out map[string]any
	return out, json.Unmarshal(body, &out)
}

func (f *farSide) say(v any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	write(v)
}

// write writes a message. f.mu is held.
func write(v any) {
	b, err := engine.Frame(v)
	if err != nil {
		panic(err)
	}
	os.Stdout.Write(b)
}

// misbehaves does what ends a conversation, and gives the name of what only spoils an answer; "" for neither.
func (f *farSide) misbehaves(step string, id int64) string {
	if step != f.step {
		return ""
	}
	if f.after--; f.after >= 0 {
		return ""
	}
	f.step = ""
	raw := func(text string) {
		f.mu.Lock()
		defer f.mu.Unlock()
		os.Stdout.WriteString(text)
	}
	switch f.fault {
	case "killed":
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	case "refuses":
		fmt.Fprintln(os.Stderr, "ImportError: there is no torch here")
		os.Exit(3)
	case "hangs":
		select {}
	case "hangs deaf":
		signal.Ignore(syscall.SIGTERM)
		select {}
	case "garbled":
		raw("this is not a frame, and never was one")
	case "huge":
		raw("\xff\xff\xff\xff{")
	case "no json":
		raw("\x00\x00\x00\x05[1, }")
	case "half":
		raw("\x00\x00\x00\x64{\"id\": ")
		select {}
	case "slow":
		time.Sleep(40 * time.Millisecond)
	case "closes its output":
		os.Stdout.Close()
	case "closes its input":
		os.Stdin.Close()
		select {}
	case "wrong id":
		f.say(map[string]any{"id": id + 1000, "result": map[string]any{}})
	}
	return f.fault
}

// answer answers a job that is still open.
func (f *farSide) answer(id int64, fault string, more map[string]any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	open := f.open[id]
	delete(f.open, id)
	if !open || fault == "no answer" || fault == "wrong id" {
		return
	}
	more["id"] = id
	if fault == "no outcome" && more["result"] != nil {
		more["result"] = 7
	}
	write(more)
	if fault == "twice" {
		write(more)
	}
}

func (f *farSide) take(j map[string]any) {
	number, _ := j["id"].(float64)
	id, op := int64(number), fmt.Sprint(j["op"])
	if op == "cancel" {
		f.misbehaves(op, id)
		f.answer(id, "", map[string]any{"result": map[string]any{"status": "infrastructure", "message": "cancelled"}})
		return
	}
	f.mu.Lock()
	f.open[id] = true
	f.mu.Unlock()
	fault := f.misbehaves(op, id)
	f.mu.Lock()
	if fault == "forgets" {
		f.held, f.used = map[string][]byte{}, nil
	}
	missing := []string{}
	needs := texts(j["needs"])
	for _, hash := range needs {
		if f.held[hash] == nil {
			missing = append(missing, hash)
		}
		f.use(hash)
	}
	f.mu.Unlock()
	if len(missing) > 0 || op == "have" {
		f.answer(id, fault, map[string]any{"missing": missing})
		return
	}
	if op != "run" && op != "fresh" {
		f.answer(id, fault, map[string]any{"result": f.result(op, j, needs)})
		return
	}
	r := f.result(op, j, needs)
	f.jobs.Go(func() { // a child: it takes its time
		time.Sleep(time.Duration(id%4) * time.Millisecond)
		f.answer(id, fault, map[string]any{"result": r, "spent": map[string]any{"C++": 0.001}})
	})
}

func texts(v any) []string {
	var out []string
	list, _ := v.([]any)
	for _, x := range list {
		out = append(out, fmt.Sprint(x))
	}
	return out
}

// use makes a storage the latest, and lets go of the first ones. f.mu is held.
func (f *farSide) use(hash string) {
	if i := slices.Index(f.used, hash); i >= 0 {
		f.used = slices.Delete(f.used, i, i+1)
	}
	f.used = append(f.used, hash)
	for f.spec.Most > 0 && len(f.used) > f.spec.Most {
		delete(f.held, f.used[0])
		f.used = f.used[1:]
	}
}

func (f *farSide) result(op string, j map[string]any, needs []string) map[string]any {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch op {
	case "put":
		hash := fmt.Sprint(j["hash"])
		data, err := base64.StdEncoding.DecodeString(fmt.Sprint(j["data"]))
		if err != nil {
			panic(err)
		}
		if more, _ := j["more"].(bool); !more {
			f.parts[hash] = []byte{}
		}
		f.parts[hash] = append(f.parts[hash], data...)
		if last, _ := j["last"].(bool); last {
			f.held[hash] = f.parts[hash]
			f.use(hash)
		}
	case "explore":
		values := map[string]any{}
		for _, name := range texts(j["inputs"]) {
			data := madeBy(fmt.Sprint(j["text"]), name)
			f.held[hashOf(data)] = data
			f.use(hashOf(data))
			values[name] = map[string]any{"kind": "tensor", "storage": hashOf(data)}
		}
		return map[string]any{"values": values, "error": ""}
	case "run", "fresh":
		return map[string]any{"status": "pass", "marks": []string{"loaded", "eager", "compiled", "ran"}, "message": ranOn(fmt.Sprint(j["text"]), needs, f.held)}
	case "attach":
		return map[string]any{"refused": f.spec.Refuses}
	case "reset":
		f.held, f.used, f.parts, f.open = map[string][]byte{}, nil, map[string][]byte{}, map[int64]bool{int64(j["id"].(float64)): true}
	case "elements":
		of, _ := j["of"].(map[string]any)
		return map[string]any{"elements": []string{string(f.held[fmt.Sprint(of["storage"])])}}
	case "export":
		return map[string]any{"data": base64.StdEncoding.EncodeToString(f.held[fmt.Sprint(j["storage"])])}
	}
	return map[string]any{}
}

// madeBy is the value that an exploration gives under a name.
func madeBy(text, name string) []byte { return []byte("value " + name + " of " + text) }

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:20])
}

// ranOn is the answer to a query: it tells what the far side saw.
func ranOn(text string, needs []string, held map[string][]byte) string {
	var b bytes.Buffer
	b.WriteString(text)
	for _, hash := range needs {
		b.WriteString("|")
		b.Write(held[hash])
	}
	return hashOf(b.Bytes())
}
