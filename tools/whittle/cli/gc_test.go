package cli

import "testing"

func TestPace(t *testing.T) {
	for live, want := range map[uint64]int{0: 400, 10 << 20: 400, 64 << 20: 400, 128 << 20: 200, 1 << 30: 25, 8 << 30: 20} {
		if got := percentFor(live); got != want {
			t.Errorf("percentFor(%d MB) = %d, want %d", live>>20, got, want)
		}
	}
}
