package code

import "fmt"

// Verify tests code that did not come from the compiler: that every argument, jump and handler points somewhere, and that the stack neither
// runs empty nor grows over StackSize on any path. The compiler's own code is known to be right.
func (c *Code) Verify() error {
	if err := c.check(); err != nil {
		return err
	}
	n := len(c.Instrs)
	depth := make([]int, n)
	for i := range depth {
		depth[i] = -1
	}
	var work []int
	visit := func(i, d int) error {
		if i >= n || d < 0 || d > c.StackSize {
			return fmt.Errorf("instruction %d would be reached with %d values on the stack", i, d)
		}
		if depth[i] < 0 {
			depth[i] = d
			work = append(work, i)
		}
		return nil
	}
	if err := visit(0, 0); err != nil {
		return err
	}
	for len(work) > 0 {
		i := work[len(work)-1]
		work = work[:len(work)-1]
		if err := c.follow(i, depth[i], visit); err != nil {
			return err
		}
	}
	return nil
}

// follow visits what may run after instruction i, before which d values lie on the stack.
func (c *Code) follow(i, d int, visit func(i, d int) error) error {
	in := c.Instrs[i]
	if in.Takes() > d {
		return fmt.Errorf("instruction %d (%s) takes %d of %d values", i, in.Op, in.Takes(), d)
	}
	if h, ok := c.HandlerAt(i); ok {
		at := int(h.Depth) + 1
		if h.Lasti {
			at++
		}
		if int(h.Depth) > d {
			return fmt.Errorf("the handler of instruction %d keeps %d of %d values", i, h.Depth, d)
		}
		if err := visit(int(h.Target), at); err != nil {
			return err
		}
	}
	if in.Op.HasJump() {
		if err := visit(int(in.Arg), d+effect(in.Op, int(in.Arg), true)); err != nil {
			return err
		}
	}
	if terminal(in.Op) {
		return nil
	}
	return visit(i+1, d+effect(in.Op, int(in.Arg), false))
}
