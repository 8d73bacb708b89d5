package serve

import (
	"context"
	"path/filepath"
	"testing"

	"whittle/replay"
	"whittle/replay/replaytest"
)

var ctx = context.Background()

// reader makes a store and opens it for looking.
func reader(t testing.TB, make func(ctx context.Context, path string) error) *replay.Reader {
	t.Helper()
	path := filepath.Join(t.TempDir(), "store.db")
	if err := make(ctx, path); err != nil {
		t.Fatal(err)
	}
	r, err := replay.OpenReadOnly(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func fill(size replaytest.Size) func(ctx context.Context, path string) error {
	return func(ctx context.Context, path string) error { return replaytest.Fill(ctx, path, size) }
}

func server(t testing.TB, make func(ctx context.Context, path string) error) *Server {
	t.Helper()
	s, err := New(reader(t, make))
	if err != nil {
		t.Fatal(err)
	}
	return s
}
