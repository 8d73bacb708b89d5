package replay_test

import (
	"context"
	"path/filepath"
	"testing"

	"whittle/replay"
	"whittle/replay/replaytest"
)

func TestFill(t *testing.T) {
	p := filepath.Join(t.TempDir(), "s.db")
	if err := replaytest.Fill(context.Background(), p, replaytest.Small); err != nil {
		t.Fatal(err)
	}
	a := filepath.Join(t.TempDir(), "a.db")
	if err := replaytest.Attack(context.Background(), a); err != nil {
		t.Fatal(err)
	}
	r, err := replay.OpenReadOnly(context.Background(), a)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	t.Log(r.GroupPage(context.Background(), replay.GroupFilter{Limit: 3}))
}
