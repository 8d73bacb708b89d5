package pysocket

import (
	"encoding/binary"
	"math"

	"golang.org/x/sys/unix"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// Messages with ancillary data: sendmsg, recvmsg and recvmsg_into (RFC 3542, section 20; on a unix socket, descriptors among others).

// messages are the methods that send and receive them.
func (m *module) messages(def func(name, params string, f clinic.Func)) {
	def("sendmsg", "buffers, ancdata=nil, flags:int=0, address=None, /", func(c *clinic.Call) (vm.Object, error) {
		var data [][]byte
		if err := each(c, 0, "sendmsg", func(o vm.Object) error {
			b, ok := vm.AsBytes(o)
			if !ok {
				return c.Errorf(c.Exc.TypeError, "a bytes-like object is required, not '%s'", vm.TypeName(o))
			}
			data = append(data, b)
			return nil
		}); err != nil {
			return nil, err
		}
		var oob []byte
		if err := each(c, 1, "sendmsg", func(o vm.Object) error {
			one, err := control(c, o)
			oob = append(oob, one...)
			return err
		}); err != nil {
			return nil, err
		}
		var to unix.Sockaddr
		if !c.None(3) {
			var err error
			if to, err = m.address(c, of(c), c.Args[3], "sendmsg"); err != nil {
				return nil, err
			}
		}
		var n int
		err := of(c).do(c, unix.POLLOUT, func() (err error) {
			n, err = unix.SendmsgBuffers(of(c).fd, data, oob, to, int(c.Int(2))|unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT)
			return err
		})
		return vm.MakeInt(int64(n)), err
	})
	receive := func(c *clinic.Call, buffers [][]byte, what string) (vm.Object, vm.Object, error) {
		space := c.Int(1)
		if space < 0 || space > math.MaxInt32 {
			return nil, nil, c.Errorf(c.Exc.ValueError, "invalid ancillary data buffer length")
		}
		oob := make([]byte, space)
		var n, used, flags int
		var from unix.Sockaddr
		err := of(c).do(c, unix.POLLIN, func() (err error) {
			n, used, flags, from, err = unix.RecvmsgBuffers(of(c).fd, buffers, oob, int(c.Int(2)))
			return err
		})
		if err != nil {
			return nil, nil, err
		}
		address := addressValue(from)
		if u, ok := from.(*unix.SockaddrUnix); ok && u.Name == "" {
			address = vm.None
		}
		return vm.MakeInt(int64(n)), vm.NewTuple(ancillary(oob[:used]), vm.MakeInt(int64(flags)), address), nil
	}
	def("recvmsg", "bufsize:int, ancbufsize:int=0, flags:int=0, /", func(c *clinic.Call) (vm.Object, error) {
		if c.Int(0) < 0 {
			return nil, c.Errorf(c.Exc.ValueError, "negative buffer size in recvmsg()")
		}
		buf := make([]byte, c.Int(0))
		n, rest, err := receive(c, [][]byte{buf}, "recvmsg")
		if err != nil {
			return nil, err
		}
		return vm.NewTuple(append([]vm.Object{vm.Bytes(buf[:int(n.(vm.Int))])}, rest.(*vm.Tuple).Items...)...), nil
	})
	def("recvmsg_into", "buffers, ancbufsize:int=0, flags:int=0, /", func(c *clinic.Call) (vm.Object, error) {
		var buffers [][]byte
		if err := each(c, 0, "recvmsg_into", func(o vm.Object) error {
			b, ok := vm.WritableBytes(o)
			if !ok {
				return c.Errorf(c.Exc.TypeError, "recvmsg_into() argument 1 must be an iterable of single-segment read-write buffers")
			}
			buffers = append(buffers, b)
			return nil
		}); err != nil {
			return nil, err
		}
		n, rest, err := receive(c, buffers, "recvmsg_into")
		if err != nil {
			return nil, err
		}
		return vm.NewTuple(append([]vm.Object{n}, rest.(*vm.Tuple).Items...)...), nil
	})
}

// each calls f with the items of an argument that must be iterable.
func each(c *clinic.Call, i int, what string, f func(o vm.Object) error) error {
	if c.Args[i] == nil { // left out
		return nil
	}
	if c.Args[i].Type().Lookup("__iter__") == nil && c.Args[i].Type().Lookup("__getitem__") == nil {
		return c.Errorf(c.Exc.TypeError, "%s() argument %d must be iterable", what, i+1)
	}
	items, err := c.IterAll(c.Args[i])
	if err != nil {
		return err
	}
	for _, o := range items {
		if err := f(o); err != nil {
			return err
		}
	}
	return nil
}

// control is one ancillary message of sendmsg: a level, a type and data.
func control(c *clinic.Call, o vm.Object) ([]byte, error) {
	t, ok := vm.AsTuple(o)
	if !ok || len(t.Items) != 3 {
		return nil, c.Errorf(c.Exc.TypeError, "[sendmsg() ancillary data items] must be 3-item tuples, not %s", vm.TypeName(o))
	}
	var nums [2]int64
	for i := range nums {
		var err error
		if nums[i], err = c.Index(t.Items[i]); err != nil {
			return nil, err
		}
	}
	data, ok := vm.AsBytes(t.Items[2])
	if !ok {
		return nil, c.Errorf(c.Exc.TypeError, "a bytes-like object is required, not '%s'", vm.TypeName(t.Items[2]))
	}
	b := make([]byte, unix.CmsgSpace(len(data)))
	binary.NativeEndian.PutUint64(b, uint64(unix.CmsgLen(len(data))))
	binary.NativeEndian.PutUint32(b[8:], uint32(nums[0]))
	binary.NativeEndian.PutUint32(b[12:], uint32(nums[1]))
	copy(b[unix.CmsgLen(0):], data)
	return b, nil
}

// ancillary are the messages in what recvmsg got, the last of them cut where the buffer was too short.
func ancillary(b []byte) vm.Object {
	l := &vm.List{}
	for head := unix.CmsgLen(0); len(b) >= head; {
		size := binary.NativeEndian.Uint64(b)
		if size < uint64(head) {
			break
		}
		level, kind := int32(binary.NativeEndian.Uint32(b[8:])), int32(binary.NativeEndian.Uint32(b[12:]))
		end := int(min(size, uint64(len(b))))
		l.Items = append(l.Items, vm.NewTuple(vm.MakeInt(int64(level)), vm.MakeInt(int64(kind)), vm.Bytes(b[head:end])))
		next := unix.CmsgSpace(int(size) - head)
		if next > len(b) {
			break
		}
		b = b[next:]
	}
	return l
}

// controlSizes are CMSG_LEN and CMSG_SPACE: the room that ancillary data take, without and with what aligns the next.
func (m *module) controlSizes() {
	for name, f := range map[string]func(int) int{"CMSG_LEN": unix.CmsgLen, "CMSG_SPACE": unix.CmsgSpace} {
		clinic.Def(m.Module, name, "length:int, /", func(c *clinic.Call) (vm.Object, error) {
			n, least := c.Int(0), 0 // of what a buffer for the alignment takes
			if name == "CMSG_SPACE" {
				least = 1
			}
			if n < 0 || n > math.MaxInt32-int64(f(least)) {
				return nil, c.Errorf(c.Exc.OverflowError, "%s() argument out of range", name)
			}
			return vm.MakeInt(int64(f(int(n)))), nil
		})
	}
}
