package capture

import (
	"fmt"
	"sort"

	"whittle/capture/python/vm"
)

// codeID names a code object over resets of the code cache, as PyTorch does.
type codeID struct {
	file, name string
	line       int
}

// seenSizes is what the captures of one code object saw at one source. Values that differ between captures become dynamic.
type seenSizes struct {
	number vm.Object // of a plain number; nil before one was seen
	wild   bool      // the number differed, or a tensor was there as well
	size   []int64   // nil before a tensor was seen
	free   []bool    // dimensions whose sizes differed
	rank   bool      // the number of dimensions differed: all are dynamic
	stride []string  // as strideSpec gives it
	shift  []bool    // dimensions whose strides differed
}

// seeNumber takes note of the number that a call had: it is wild when it is another than before, or where a tensor was once.
func (s *seenSizes) seeNumber(v vm.Object) {
	switch {
	case s.size != nil:
		s.wild = true
	case s.number == nil:
		s.number = v
	case s.number != v:
		s.wild = true
	}
	s.rank = true
}

// seeTensor takes note of the sizes and strides of a call: what differs from the first one's is free, or shifts, from then on. Another rank,
// or a number before, makes all sizes dynamic.
func (s *seenSizes) seeTensor(size []int64, stride []string) {
	s.wild = true
	switch {
	case s.number != nil:
		s.rank = true
	case s.size == nil:
		s.size, s.stride = append([]int64{}, size...), stride
		s.free, s.shift = make([]bool, len(size)), make([]bool, len(size))
	case len(s.size) != len(size):
		s.rank = true
	default:
		for i := range size {
			s.free[i] = s.free[i] || s.size[i] != size[i]
			s.shift[i] = s.shift[i] || s.stride[i] != stride[i]
		}
	}
}

// sizeDynamic reports whether dimension i had two sizes, or the tensor two ranks.
func (s *seenSizes) sizeDynamic(i int) bool { return s.rank || i < len(s.free) && s.free[i] }

// strideDynamic holds only where no size ever differed.
func (s *seenSizes) strideDynamic(i int) bool {
	if s.rank {
		return false
	}
	for _, f := range s.free {
		if f {
			return false
		}
	}
	return i < len(s.shift) && s.shift[i]
}

// strideSpec describes each stride by the dimension whose extent it is, "S0", or as a number.
func strideSpec(size, stride []int64) []string {
	out := make([]string, len(size))
	ends := map[int64]int{}
	for {
		var left []int
		for i := range out {
			if out[i] == "" {
				left = append(left, i)
			}
		}
		if len(left) == 0 {
			return out
		}
		sort.SliceStable(left, func(a, b int) bool { return stride[left[a]] < stride[left[b]] })
		found := false
		for _, i := range left {
			if d, ok := ends[stride[i]]; ok {
				out[i] = fmt.Sprintf("S%d", d)
				ends[size[i]*stride[i]] = i
				found = true
			}
		}
		if !found {
			i := left[0]
			out[i] = fmt.Sprint(stride[i])
			ends[size[i]*stride[i]] = i
		}
	}
}

// shapeConfig is what decides which sizes are symbols.
type shapeConfig struct {
	assumeStatic, automatic, specializeInt, specializeFloat, staticParameters, ignoreMarks bool
}

// shapeConfig reads the settings.
func (d *Dynamo) shapeConfig() (c shapeConfig, err error) {
	for name, p := range map[string]*bool{"assume_static_by_default": &c.assumeStatic, "automatic_dynamic_shapes": &c.automatic, "specialize_int": &c.specializeInt,
		"specialize_float": &c.specializeFloat, "force_parameter_static_shapes": &c.staticParameters, "allow_ignore_mark_dynamic": &c.ignoreMarks} {
		if *p, err = d.configBool(name); err != nil {
			return c, err
		}
	}
	if d.ctx.Dynamic != nil {
		c.assumeStatic = !*d.ctx.Dynamic
		c.automatic = *d.ctx.Dynamic
	}
	return c, nil
}
