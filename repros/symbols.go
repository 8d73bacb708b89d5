package repros

import (
	"regexp"
	"sort"
	"strconv"
	"sync"
)

// assignments lists the ways to give symbols their values, likeliest first. After dynamo, inputs are named after
// symbols. After aot, PyTorch prints the hints of symint inputs without their symbols: both are ordered by their numbers
// (primals_1 before primals_4, s0 before s3), and where their counts differ every order-preserving choice is one way.
func assignments(used []string, named map[string]int64, inputs []Input) []map[string]int64 {
	base := map[string]int64{}
	var left []string
	for _, s := range used {
		if v, ok := named[s]; ok {
			base[s] = v
		} else {
			left = append(left, s)
		}
	}
	if len(left) == 0 {
		return []map[string]int64{base}
	}
	sort.SliceStable(left, func(i, j int) bool { return symNumber(left[i]) < symNumber(left[j]) })
	var vals []int64
	var nums []int
	for _, in := range inputs {
		v, ok := in.Value.(int64)
		if in.Kind != SymIntInput || !ok {
			continue
		}
		if m := numberedInput().FindStringSubmatch(in.Name); m != nil {
			n, _ := strconv.Atoi(m[1])
			vals, nums = append(vals, v), append(nums, n)
		}
	}
	sort.Sort(byNumber{nums, vals})
	var out []map[string]int64
	const limit = 400
	var choose func(i, j int, cur map[string]int64, skipped int)
	choose = func(i, j int, cur map[string]int64, skipped int) {
		if len(out) >= limit {
			return
		}
		if i == len(left) {
			m := map[string]int64{}
			for k, v := range base {
				m[k] = v
			}
			for k, v := range cur {
				m[k] = v
			}
			out = append(out, m)
			return
		}
		for k := j; k < len(vals); k++ {
			cur[left[i]] = vals[k]
			choose(i+1, k+1, cur, skipped)
		}
		if skipped > 0 {
			cur[left[i]] = 2 // no input tells; any size above one
			choose(i+1, j, cur, skipped-1)
		}
		delete(cur, left[i])
	}
	choose(0, 0, map[string]int64{}, max(0, len(left)-len(vals)))
	if len(out) == 0 {
		out = append(out, base)
	}
	return out
}

var numberedInput = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:primals_|arg)(\d+)(?:_1)?$`) })

type byNumber struct {
	nums []int
	vals []int64
}

func (b byNumber) Len() int           { return len(b.nums) }
func (b byNumber) Less(i, j int) bool { return b.nums[i] < b.nums[j] }
func (b byNumber) Swap(i, j int) {
	b.nums[i], b.nums[j] = b.nums[j], b.nums[i]
	b.vals[i], b.vals[j] = b.vals[j], b.vals[i]
}

func symNumber(s string) int {
	for i := range s {
		if n, err := strconv.Atoi(s[i:]); err == nil {
			return n
		}
	}
	return 0
}
