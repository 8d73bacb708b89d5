package pyctypes

import (
	"bytes"
	"slices"
	"sort"
	"weak"
)

// known is memory that addresses may lead into, as long as its object lives.
type known struct {
	from, to uint64
	owner    weak.Pointer[data]
}

// know makes the memory of a root one that addresses may lead into.
func (c *lib) know(d *data) {
	from := addressOf(d.mem)
	k := known{from, from + uint64(max(len(d.mem), 1)), weak.Make(d)}
	i := sort.Search(len(c.memory), func(i int) bool { return c.memory[i].from >= from })
	for j := i; j < len(c.memory) && c.memory[j].from == from; j++ {
		if c.memory[j].owner == k.owner {
			c.memory[j].to = k.to
			return
		}
	}
	if len(c.memory) > 2*c.living+64 { // most are of objects that are gone
		c.memory = slices.DeleteFunc(c.memory, func(k known) bool { return k.owner.Value() == nil })
		c.living = len(c.memory)
		i = sort.Search(len(c.memory), func(i int) bool { return c.memory[i].from >= from })
	}
	c.memory = slices.Insert(c.memory, i, k)
	c.longest = max(c.longest, k.to-k.from)
}

// at is the memory from an address to the end of the object that it lies in, and who has it; nil if no object of ctypes has.
func (c *lib) at(address uint64) ([]byte, *data) {
	i := sort.Search(len(c.memory), func(i int) bool { return c.memory[i].from > address })
	var mem []byte
	var owner *data
	for i--; i >= 0 && c.memory[i].from+c.longest > address; i-- {
		k := c.memory[i]
		d := k.owner.Value()
		if d == nil || addressOf(d.mem) != k.from || k.to <= address {
			continue
		}
		if rest := d.mem[address-k.from:]; len(rest) > len(mem) || owner == nil {
			mem, owner = rest, d
		}
	}
	return mem, owner
}

// piece is so many bytes at an address.
func (c *lib) piece(address uint64, n int) ([]byte, *data, error) {
	if address == 0 {
		return nil, nil, c.in.Errorf(c.in.Exc.ValueError, "NULL pointer access")
	}
	mem, owner := c.at(address)
	if owner == nil || n > len(mem) {
		return nil, nil, c.astray(address)
	}
	return mem[:n:n], owner, nil
}

// astray says that an address leads nowhere.
func (c *lib) astray(address uint64) error {
	return c.in.Errorf(c.in.Exc.ValueError, "invalid memory access: no object of ctypes has its memory at 0x%x", address)
}

// text is the text at an address: n characters, or, for a negative n, those before the first that is zero.
func (c *lib) text(address uint64, n, width int) ([]byte, error) {
	if n >= 0 {
		b, _, err := c.piece(address, n*width)
		return bytes.Clone(b), err
	}
	if _, _, err := c.piece(address, 0); err != nil {
		return nil, err
	}
	mem, _ := c.at(address)
	for i := 0; i+width <= len(mem); i += width {
		if load(mem[i:i+width]) == 0 {
			return bytes.Clone(mem[:i]), nil
		}
	}
	return bytes.Clone(mem), nil
}
