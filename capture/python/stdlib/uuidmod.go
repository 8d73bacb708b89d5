package stdlib

import (
	"crypto/rand"
	"encoding/binary"
	"net"
	"sync"
	"time"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// gregorian is how many steps of 100 nanoseconds lie between the day with which UUIDs count time (the 15th of October 1582) and Unix's epoch.
const gregorian = 0x01b21dd213814000

// timeUUIDs are what one process takes into account so that no two of its UUIDs are the same.
var timeUUIDs struct {
	sync.Mutex
	last uint64
	seq  uint16
	node []byte
}

// timeUUID is a UUID of version 1: RFC 4122, section 4.2.
func timeUUID() []byte {
	u := &timeUUIDs
	u.Lock()
	defer u.Unlock()
	if u.node == nil {
		u.node = nodeID()
		var b [2]byte
		_, _ = rand.Read(b[:])
		u.seq = binary.BigEndian.Uint16(b[:])
	}
	u.last = max(uint64(time.Now().UnixNano()/100)+gregorian, u.last+1)
	b := binary.BigEndian.AppendUint32(nil, uint32(u.last))
	b = binary.BigEndian.AppendUint16(b, uint16(u.last>>32))
	b = binary.BigEndian.AppendUint16(b, uint16(u.last>>48)&0x0fff|1<<12)
	b = binary.BigEndian.AppendUint16(b, u.seq&0x3fff|0x8000)
	return append(b, u.node...)
}

// nodeID is the address of a network card, or random bytes that are marked as no such address.
func nodeID() []byte {
	cards, _ := net.Interfaces()
	for _, c := range cards {
		if len(c.HardwareAddr) == 6 && c.HardwareAddr[0]&1 == 0 {
			return c.HardwareAddr
		}
	}
	b := make([]byte, 6)
	_, _ = rand.Read(b)
	b[0] |= 1
	return b
}

// uuidModule is _uuid. Nobody vouches for other processes, so that its UUIDs are not safe.
func uuidModule(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("_uuid", "")
	m.Set("has_uuid_generate_time_safe", vm.MakeInt(1))
	clinic.Def(m, "generate_time_safe", "", func(*clinic.Call) (vm.Object, error) {
		return vm.NewTuple(vm.Bytes(timeUUID()), vm.MakeInt(-1)), nil
	})
	return m, nil
}
