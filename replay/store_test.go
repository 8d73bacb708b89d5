package replay

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	sqlite3 "github.com/mattn/go-sqlite3"
	"github.com/sourcegraph/conc/pool"
)

var ctx = context.Background()

func open(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestMain(m *testing.M) {
	if p := os.Getenv("REPLAY_TEST_CHILD"); p != "" {
		child(p)
	}
	os.Exit(m.Run())
}

// child writes for ever and says on stdout what was acknowledged, until it is killed.
func child(path string) {
	s, err := Open(ctx, path)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	if os.Getenv("REPLAY_TEST_WHAT") == "results" {
		resultsChild(s)
	}
	for i := 0; ; i++ {
		data := bytes.Repeat([]byte{byte(i)}, 1000+i)
		key, err := s.PutBlob(ctx, data)
		if err != nil {
			os.Exit(1)
		}
		fmt.Println(key)
	}
}

func TestKillKeepsWhatWasAcknowledged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "REPLAY_TEST_CHILD="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var acked []string
	sc := bufio.NewScanner(out)
	for sc.Scan() {
		if acked = append(acked, sc.Text()); len(acked) == 40 {
			cmd.Process.Kill()
		}
	}
	cmd.Wait()
	s := open(t, path)
	for _, k := range acked {
		if _, err := s.Blob(ctx, k); err != nil {
			t.Errorf("acknowledged and lost: %v", err)
		}
	}
	r, err := s.Check(ctx)
	if err != nil || len(r.Problems) > 0 || r.Blobs < len(acked) {
		t.Errorf("%v %+v", err, r)
	}
}

func TestOpenErrorsAreOneClearLine(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, b []byte) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, b, 0o644); err != nil {
			t.Fatal(err)
		}
		return p
	}
	good := filepath.Join(dir, "good.db")
	s := open(t, good)
	for i := range 50 {
		if _, err := s.PutBlob(ctx, bytes.Repeat([]byte(fmt.Sprint(i)), 500)); err != nil {
			t.Fatal(err)
		}
	}
	s.Close()
	whole, _ := os.ReadFile(good)
	foreign := filepath.Join(dir, "foreign.db")
	db, _ := sql.Open("sqlite3", foreign)
	if _, err := db.Exec("CREATE TABLE t(x)"); err != nil {
		t.Fatal(err)
	}
	db.Close()
	newer := filepath.Join(dir, "newer.db")
	open(t, newer).Close()
	db, _ = sql.Open("sqlite3", newer)
	db.Exec("PRAGMA user_version = 99")
	db.Close()
	for path, want := range map[string]Reason{
		dir:                                      IsDirectory,
		foreign:                                  Foreign,
		newer:                                    Newer,
		write("text.db", []byte("hello, world")): NotADatabase,
		write("cut.db", whole[:len(whole)/2]):    Truncated,
		write("head.db", whole[:40]):             Truncated,
		filepath.Join(dir, "no/such/dir.db"):     NoDirectory,
	} {
		_, err := Open(ctx, path)
		var oe *OpenError
		if !errors.As(err, &oe) || oe.Why != want || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want %s", path, err, want)
		}
	}
	if os.Getuid() != 0 {
		ro := write("ro.db", whole)
		os.Chmod(ro, 0o444)
		var oe *OpenError
		if _, err := Open(ctx, ro); !errors.As(err, &oe) || oe.Why != NotWritable {
			t.Error(err)
		}
	}
}

// TestBegunAndKilled opens a store whose first commit was cut off after one page: the journal beside it says that the file was empty before.
func TestBegunAndKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	open(t, path).Close()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// A journal's header (https://www.sqlite.org/fileformat.html, 3): magic, then records, nonce, pages before, sector size and page size.
	journal := append(make([]byte, 0, 512), 0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7)
	for _, v := range []uint32{0, 1, 0, 512, 4096} {
		journal = binary.BigEndian.AppendUint32(journal, v)
	}
	for name, data := range map[string][]byte{path: whole[:4096], path + "-journal": journal[:512]} {
		if err := os.WriteFile(name, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, path)
	if _, err := s.PutBlob(ctx, []byte("kept")); err != nil {
		t.Error(err)
	}
}

func TestRecordsComeBack(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "s.db"))
	s.Now = func() time.Time { return time.UnixMilli(1700000000000) }
	tt := Tensor{DType: "float32", Shape: []int64{2}, Stride: []int64{1}, Offset: 1, Data: []byte("0123456789ab")}
	key, err := s.PutTensor(ctx, tt)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Tensor(ctx, key)
	if err != nil || !cmp.Equal(got, tt) {
		t.Error(err, got)
	}
	if err := s.PutGraph(ctx, "h1", "def forward(self): ...", 1); err != nil {
		t.Fatal(err)
	}
	fid, err := s.PutFrame(ctx, Frame{Kind: "python", Version: 3, Name: "f a.py:1", Data: []byte{1, 2}})
	if err != nil {
		t.Fatal(err)
	}
	cid, err := s.PutCompile(ctx, Compile{Frame: fid, Graph: "h1", Backend: "inductor", Fingerprint: "fp", Status: Failed})
	if err != nil {
		t.Fatal(err)
	}
	sig := NewSignature("compile", "AssertionError", "expected size 3 at 0x7f00 in /usr/lib/x.py, got 4", []string{"main in t.py", "lower in lowering.py"}, nil)
	f := Failure{Compile: cid, Graph: "h1", Signature: sig, Raw: "raw", Inputs: []string{key, "7"}, Repro: "import torch", Config: map[string]string{"a": "1"}}
	id, err := s.PutFailure(ctx, f)
	if err != nil {
		t.Fatal(err)
	}
	back, err := s.Failure(ctx, id)
	f.ID, f.Created, f.Identity = id, time.UnixMilli(1700000000000), back.Identity
	if err != nil || !cmp.Equal(back, f) {
		t.Error(err, cmp.Diff(back, f))
	}
	if same, found, err := s.FailureBy(ctx, back.Identity); err != nil || !found || same != id {
		t.Error(same, found, err)
	}
	if _, err := s.PutCompile(ctx, Compile{Graph: "nowhere"}); err == nil {
		t.Error("a compile of an unknown graph was stored")
	}
	k := QueryKey{"g", "i", "c", "fp"}
	o := Outcome{Status: Failed, Signature: sig, Marks: []string{"loaded"}}
	if err := s.PutOutcome(ctx, k, o); err != nil {
		t.Fatal(err)
	}
	if c, ok, err := s.CachedOutcome(ctx, k); err != nil || !ok || !cmp.Equal(c, o) {
		t.Error(c, ok, err)
	}
	mid, resumed, err := s.BeginMinification(ctx, "key", "start", sig)
	if err != nil || resumed {
		t.Fatal(err)
	}
	if again, resumed, _ := s.BeginMinification(ctx, "key", "start", sig); again != mid || !resumed {
		t.Error("not resumed")
	}
	st := Step{Seq: 1, Parent: "p", Reduction: "cut", Candidate: "c", Edit: "e", Verdict: Reproduced, Taken: true}
	if err := s.PutStep(ctx, mid, st); err != nil {
		t.Fatal(err)
	}
	if j, err := s.Journal(ctx, mid); err != nil || !cmp.Equal(j, []Step{st}) {
		t.Error(j, err)
	}
	if err := s.PutFinding(ctx, Finding{Minification: mid, Signature: sig, Repro: "r"}); err != nil {
		t.Fatal(err)
	}
	if err := s.FinishMinification(ctx, mid, "result", "{}"); err != nil {
		t.Fatal(err)
	}
	if p, err := s.Export(ctx, fmt.Sprintf("minification/%d", mid), t.TempDir()); err != nil {
		t.Error(err)
	} else if b, _ := os.ReadFile(p); !strings.HasPrefix(string(b), "result\n#") {
		t.Errorf("%q", b)
	}
	if _, err := s.BeginBisection(ctx, Bisection{Key: "k", Kind: "versions", Subject: "h1"}); err != nil {
		t.Fatal(err)
	}
	es, err := s.List(ctx, "")
	if err != nil || len(es) != 6 {
		t.Error(es, err)
	}
	for _, e := range es {
		if e.Kind == "compile" {
			continue
		}
		if _, err := s.Show(ctx, fmt.Sprintf("%s/%d", e.Kind, e.ID), true); err != nil {
			t.Error(err)
		}
	}
	if r, err := s.Check(ctx); err != nil || len(r.Problems) > 0 {
		t.Error(r, err)
	}
}

// TestRemovedUnderItsLog: a store whose file was removed while its log stays is not begun anew, as that would lose the log; the message says what to do.
func TestRemovedUnderItsLog(t *testing.T) {
	for _, put := range []func(path string) error{os.Remove, func(path string) error { return os.Truncate(path, 0) }} {
		path := filepath.Join(t.TempDir(), "s.db")
		s := open(t, path)
		if _, err := s.PutBlob(ctx, []byte("hello")); err != nil {
			t.Fatal(err)
		}
		whole, err := os.ReadFile(path)
		if err == nil {
			err = put(path)
		}
		if err != nil {
			t.Fatal(err)
		}
		before, err := os.ReadFile(path + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		_, err = Open(ctx, path)
		want := "store " + path + ": gone, and its log is still there (" + path + "-wal: put the store back beside it, or move " + path + "-wal and " + path + "-shm away to begin a new one)"
		var oe *OpenError
		if !errors.As(err, &oe) || oe.Why != Orphaned || err.Error() != want {
			t.Fatal(err)
		}
		if after, err := os.ReadFile(path + "-wal"); err != nil || !bytes.Equal(before, after) {
			t.Error("the log is another one: ", err)
		}
		// What the message says works, either way.
		if err := os.WriteFile(path, whole, 0o644); err != nil {
			t.Fatal(err)
		}
		again := open(t, path)
		if b, err := again.Blob(ctx, Key([]byte("hello"))); err != nil || string(b) != "hello" {
			t.Error(string(b), err)
		}
	}
}

// TestIOErrors: an error of the disk is not taken for a full one.
func TestIOErrors(t *testing.T) {
	s := &Store{Path: "s.db"}
	var fe *FullError
	var oe *OpenError
	if err := s.wrap(sqlite3.Error{Code: sqlite3.ErrIoErr, SystemErrno: syscall.ENOSPC}); !errors.As(err, &fe) {
		t.Error(err)
	}
	if err := s.wrap(sqlite3.Error{Code: sqlite3.ErrIoErr, ExtendedCode: 522}); !errors.As(err, &oe) || oe.Why != Unreachable {
		t.Error(err)
	}
}

func TestCheckFindsDamage(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "s.db"))
	key, _ := s.PutBlob(ctx, []byte("hello"))
	if _, err := s.write.Exec("UPDATE blobs SET data = ? WHERE key = ?", s.enc.EncodeAll([]byte("hallo"), nil), key); err != nil {
		t.Fatal(err)
	}
	if _, err := s.write.Exec("PRAGMA foreign_keys = off; INSERT INTO graphs VALUES ('h', 'missing', 1, 1)"); err != nil {
		t.Fatal(err)
	}
	r, err := s.Check(ctx)
	if err != nil || len(r.Problems) != 2 {
		t.Errorf("%v %+v", err, r)
	}
}

func TestFullDiskLosesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s := open(t, path)
	if err := s.LimitPages(ctx, 60); err != nil {
		t.Fatal(err)
	}
	var keys []string
	for i := 0; ; i++ {
		b := make([]byte, 8000)
		for j := range b {
			b[j] = byte(i*j*2654435761>>7 ^ j>>3)
		}
		k, err := s.PutBlob(ctx, b)
		if err != nil {
			var fe *FullError
			if !errors.As(err, &fe) {
				t.Fatal(err)
			}
			break
		}
		keys = append(keys, k)
	}
	for _, k := range keys {
		if _, err := s.Blob(ctx, k); err != nil {
			t.Error(err)
		}
	}
	if r, err := s.Check(ctx); err != nil || len(r.Problems) > 0 || r.Blobs != len(keys) {
		t.Error(r, err, len(keys))
	}
}

func TestManyReadersAndWriters(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "s.db"))
	p := pool.New().WithErrors()
	for i := range 8 {
		p.Go(func() error {
			for j := range 10 {
				k, err := s.PutBlob(ctx, []byte(fmt.Sprint(i, j)))
				if err != nil {
					return err
				}
				if _, err := s.Blob(ctx, k); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := p.Wait(); err != nil {
		t.Error(err)
	}
}

func TestNormaliseKeepsTheFailureAndDropsTheRun(t *testing.T) {
	a := Normalise("The size of tensor a (3) must match the size of tensor b (17) at /tmp/torchinductor_x/ab/cab.py line 12: buf12 at 0x7ffabc")
	b := Normalise("The size of tensor a (512) must match the size of tensor b (1) at /var/tmp/q/zz/caz.py line 9: buf3 at 0xdead")
	if a != b || !strings.Contains(a, "The size of tensor a (#) must match") {
		t.Errorf("%q\n%q", a, b)
	}
	for _, before := range []string{"", "no cos\n\n"} { // torch.fx.Interpreter tells which node of this graph it ran
		if got := Normalise(before + "While executing %cos : [num_users=1] = call_function[target=torch.cos](args = (%sin,), kwargs = {})\nOriginal traceback:\nNone"); got != strings.TrimSpace(before) {
			t.Errorf("%q", got)
		}
	}
	if Normalise("cannot convert dtype uint8") == Normalise("cannot convert dtype bool") {
		t.Error("different messages are the same")
	}
}

func FuzzBlob(f *testing.F) {
	enc, _ := zstd.NewWriter(nil)
	dec, _ := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(1<<20))
	good := enc.EncodeAll([]byte("hello hello hello"), nil)
	f.Add(Key([]byte("hello hello hello")), int64(17), good)
	f.Add("", int64(0), []byte{})
	f.Add("x", int64(-1), good[:5])
	f.Fuzz(func(t *testing.T, key string, size int64, data []byte) {
		b, err := decodeBlob(dec, key, size, data)
		if err == nil && (Key(b) != key || int64(len(b)) != size) {
			t.Error("accepted wrong bytes")
		}
		var ce *CorruptError
		if err != nil && !errors.As(err, &ce) {
			t.Errorf("%T", err)
		}
	})
}

func TestCppError(t *testing.T) {
	for output, want := range map[string]string{
		"k.cpp:3:1: error: ‘float8’ does not name a type; did you mean ‘float_t’?\nk.cpp:9:2: error: other": "C++ compile error: ‘float8’ is not declared",
		"k.cpp:3:1: error: 'compile' was not declared in this scope":                                        "C++ compile error: 'compile' is not declared",
		"k.cpp:3:1: error: no match for ‘operator+’":                                                        "C++ compile error: no match for ‘operator+’",
		"killed": "C++ compile error",
	} {
		if got := CppError(output); got != want {
			t.Errorf("%q: %q, want %q", output, got, want)
		}
	}
}
