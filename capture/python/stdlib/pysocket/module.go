package pysocket

import (
	"context"
	"errors"
	"net"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// constants are the module's numbers.
var constants = map[string]int{
	"AF_UNSPEC": unix.AF_UNSPEC, "AF_INET": unix.AF_INET, "AF_INET6": unix.AF_INET6, "AF_UNIX": unix.AF_UNIX, "AF_PACKET": unix.AF_PACKET, "AF_NETLINK": unix.AF_NETLINK,
	"SOCK_STREAM": unix.SOCK_STREAM, "SOCK_DGRAM": unix.SOCK_DGRAM, "SOCK_RAW": unix.SOCK_RAW, "SOCK_RDM": unix.SOCK_RDM, "SOCK_SEQPACKET": unix.SOCK_SEQPACKET,
	"SOCK_CLOEXEC": unix.SOCK_CLOEXEC, "SOCK_NONBLOCK": unix.SOCK_NONBLOCK,
	"SOL_SOCKET": unix.SOL_SOCKET, "SOL_IP": 0, "SOL_TCP": 6, "SOL_UDP": 17, "IPPROTO_IP": 0, "IPPROTO_ICMP": 1, "IPPROTO_TCP": 6, "IPPROTO_UDP": 17, "IPPROTO_IPV6": 41,
	"IPPROTO_RAW": 255, "IPPROTO_ICMPV6": 58,
	"SO_REUSEADDR": unix.SO_REUSEADDR, "SO_REUSEPORT": unix.SO_REUSEPORT, "SO_KEEPALIVE": unix.SO_KEEPALIVE, "SO_BROADCAST": unix.SO_BROADCAST, "SO_LINGER": unix.SO_LINGER,
	"SO_RCVBUF": unix.SO_RCVBUF, "SO_SNDBUF": unix.SO_SNDBUF, "SO_ERROR": unix.SO_ERROR, "SO_TYPE": unix.SO_TYPE, "SO_RCVTIMEO": unix.SO_RCVTIMEO, "SO_SNDTIMEO": unix.SO_SNDTIMEO,
	"SO_ACCEPTCONN": unix.SO_ACCEPTCONN, "SO_OOBINLINE": unix.SO_OOBINLINE, "SO_DONTROUTE": unix.SO_DONTROUTE, "SO_PROTOCOL": unix.SO_PROTOCOL, "SO_DOMAIN": unix.SO_DOMAIN,
	"SO_PEERCRED": unix.SO_PEERCRED, "SO_PASSCRED": unix.SO_PASSCRED, "SOMAXCONN": unix.SOMAXCONN, "TCP_NODELAY": unix.TCP_NODELAY, "TCP_MAXSEG": unix.TCP_MAXSEG,
	"TCP_KEEPIDLE": unix.TCP_KEEPIDLE, "TCP_KEEPINTVL": unix.TCP_KEEPINTVL, "TCP_KEEPCNT": unix.TCP_KEEPCNT, "TCP_QUICKACK": unix.TCP_QUICKACK, "TCP_USER_TIMEOUT": unix.TCP_USER_TIMEOUT,
	"IPV6_V6ONLY": unix.IPV6_V6ONLY, "IPV6_JOIN_GROUP": unix.IPV6_JOIN_GROUP, "IPV6_LEAVE_GROUP": unix.IPV6_LEAVE_GROUP,
	"IPV6_HOPLIMIT": unix.IPV6_HOPLIMIT, "IPV6_RECVHOPLIMIT": unix.IPV6_RECVHOPLIMIT, "IPV6_TCLASS": unix.IPV6_TCLASS, "IPV6_RECVTCLASS": unix.IPV6_RECVTCLASS,
	"IPV6_PKTINFO": unix.IPV6_PKTINFO, "IPV6_RECVPKTINFO": unix.IPV6_RECVPKTINFO, "IPV6_UNICAST_HOPS": unix.IPV6_UNICAST_HOPS, "IPV6_MULTICAST_HOPS": unix.IPV6_MULTICAST_HOPS,
	"IPV6_MULTICAST_IF": unix.IPV6_MULTICAST_IF, "IPV6_MULTICAST_LOOP": unix.IPV6_MULTICAST_LOOP, "IPV6_CHECKSUM": unix.IPV6_CHECKSUM, "IPV6_DONTFRAG": unix.IPV6_DONTFRAG,
	"IPV6_RTHDR": unix.IPV6_RTHDR, "IPV6_DSTOPTS": unix.IPV6_DSTOPTS, "IPV6_HOPOPTS": unix.IPV6_HOPOPTS, "IPV6_NEXTHOP": unix.IPV6_NEXTHOP, "IPV6_PATHMTU": unix.IPV6_PATHMTU,
	"IPPROTO_UDPLITE": 136, "UDPLITE_SEND_CSCOV": 10, "UDPLITE_RECV_CSCOV": 11, "IP_MULTICAST_IF": unix.IP_MULTICAST_IF, "IP_DROP_MEMBERSHIP": unix.IP_DROP_MEMBERSHIP,
	"SO_INCOMING_CPU": unix.SO_INCOMING_CPU, "SO_BINDTODEVICE": unix.SO_BINDTODEVICE, "SO_MARK": unix.SO_MARK, "SO_PRIORITY": unix.SO_PRIORITY, "SO_RCVLOWAT": unix.SO_RCVLOWAT,
	"SO_SNDLOWAT": unix.SO_SNDLOWAT, "SO_DEBUG": unix.SO_DEBUG, "SO_PEERSEC": unix.SO_PEERSEC, "SO_PASSSEC": unix.SO_PASSSEC, "TCP_CORK": unix.TCP_CORK, "TCP_DEFER_ACCEPT": unix.TCP_DEFER_ACCEPT,
	"TCP_INFO": unix.TCP_INFO, "TCP_LINGER2": unix.TCP_LINGER2, "TCP_SYNCNT": unix.TCP_SYNCNT, "TCP_WINDOW_CLAMP": unix.TCP_WINDOW_CLAMP, "TCP_CONGESTION": unix.TCP_CONGESTION,
	"TCP_FASTOPEN": unix.TCP_FASTOPEN, "TCP_NOTSENT_LOWAT": unix.TCP_NOTSENT_LOWAT, "IP_TOS": unix.IP_TOS, "IP_TTL": unix.IP_TTL, "IP_MULTICAST_TTL": unix.IP_MULTICAST_TTL,
	"IP_MULTICAST_LOOP": unix.IP_MULTICAST_LOOP, "IP_ADD_MEMBERSHIP": unix.IP_ADD_MEMBERSHIP, "SHUT_RD": 0, "SHUT_WR": 1, "SHUT_RDWR": 2,
	"MSG_OOB": unix.MSG_OOB, "MSG_PEEK": unix.MSG_PEEK, "MSG_DONTWAIT": unix.MSG_DONTWAIT, "MSG_WAITALL": unix.MSG_WAITALL, "MSG_NOSIGNAL": unix.MSG_NOSIGNAL,
	"MSG_TRUNC": unix.MSG_TRUNC, "MSG_CTRUNC": unix.MSG_CTRUNC, "MSG_DONTROUTE": unix.MSG_DONTROUTE, "MSG_EOR": unix.MSG_EOR, "SCM_RIGHTS": unix.SCM_RIGHTS, "SCM_CREDENTIALS": unix.SCM_CREDENTIALS, "MSG_CMSG_CLOEXEC": unix.MSG_CMSG_CLOEXEC, "MSG_CONFIRM": unix.MSG_CONFIRM, "MSG_ERRQUEUE": unix.MSG_ERRQUEUE,
	"MSG_MORE": unix.MSG_MORE, "MSG_FASTOPEN": unix.MSG_FASTOPEN,
	"AI_PASSIVE": 1, "AI_CANONNAME": 2, "AI_NUMERICHOST": 4, "AI_V4MAPPED": 8, "AI_ALL": 16, "AI_ADDRCONFIG": 32, "AI_NUMERICSERV": 1024,
	"EAI_FAMILY": -6, "EAI_NONAME": -2, "EAI_SERVICE": -8, "EAI_SOCKTYPE": -7, "EAI_AGAIN": -3, "EAI_FAIL": -4, "EAI_BADFLAGS": -1, "EAI_MEMORY": -10, "EAI_NODATA": -5, "EAI_SYSTEM": -11,
	"NI_NUMERICHOST": 1, "NI_NUMERICSERV": 2, "NI_NOFQDN": 4, "NI_NAMEREQD": 8, "NI_DGRAM": 16, "INADDR_ANY": 0, "INADDR_BROADCAST": 0xffffffff, "INADDR_LOOPBACK": 0x7f000001,
	"INADDR_NONE": 0xffffffff, "IPPORT_RESERVED": 1024, "IPPORT_USERRESERVED": 5000,
}

// module is the module while it is made, and what its sockets share.
type module struct {
	*vm.Module
	gaierror *vm.Type
	socket   *vm.Type
	timeout  float64 // of new sockets; negative for none
}

// Module makes module _socket.
func Module(in *vm.Interp) (*vm.Module, error) {
	m := &module{Module: in.NewModule("_socket", ""), timeout: -1}
	for n, v := range constants {
		m.Set(n, vm.MakeInt(int64(v)))
	}
	m.Set("error", in.Exc.OSError)
	m.Set("timeout", in.Exc.TimeoutError)
	m.Set("has_ipv6", vm.True)
	m.gaierror = in.NewNativeType(vm.Spec{Name: "gaierror", Module: "socket", Bases: []*vm.Type{in.Exc.OSError}})
	m.Set("gaierror", m.gaierror)
	m.Set("herror", in.NewNativeType(vm.Spec{Name: "herror", Module: "socket", Bases: []*vm.Type{in.Exc.OSError}}))
	m.socket = m.socketType(in)
	m.Set("socket", m.socket)
	m.Set("SocketType", m.socket)
	m.descriptors()
	m.numbers()
	m.names()
	m.controlSizes()
	return m.Module, nil
}

// descriptors are the functions that work on descriptors of sockets.
func (m *module) descriptors() {
	clinic.Def(m.Module, "close", "fd:fd, /", func(c *clinic.Call) (vm.Object, error) { return c.Do(unix.Close(int(c.Int(0)))) })
	clinic.Def(m.Module, "dup", "fd:fd, /", func(c *clinic.Call) (vm.Object, error) {
		n, err := unix.FcntlInt(uintptr(c.Int(0)), unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			return nil, c.OSErr(err)
		}
		return vm.MakeInt(int64(n)), nil
	})
	clinic.Def(m.Module, "socketpair", "family:int?=None, type:int=1, proto:int=0, /", func(c *clinic.Call) (vm.Object, error) {
		family := unix.AF_UNIX
		if !c.None(0) {
			family = int(c.Int(0))
		}
		fds, err := unix.Socketpair(family, int(c.Int(1))|unix.SOCK_CLOEXEC, int(c.Int(2)))
		if err != nil {
			return nil, c.OSErr(err)
		}
		var pair [2]vm.Object
		for i, fd := range fds {
			pair[i] = vm.NewInstance(m.socket, m.newSock(fd, family, int(c.Int(1)), int(c.Int(2))))
		}
		return vm.NewTuple(pair[:]...), nil
	})
	clinic.Def(m.Module, "getdefaulttimeout", "", func(*clinic.Call) (vm.Object, error) {
		if m.timeout < 0 {
			return vm.None, nil
		}
		return vm.Float(m.timeout), nil
	})
	clinic.Def(m.Module, "setdefaulttimeout", "timeout, /", func(c *clinic.Call) (vm.Object, error) {
		t, err := timeoutOf(c, 0)
		if err == nil {
			m.timeout = t
		}
		return vm.None, err
	})
}

// timeoutOf is a timeout in seconds, -1 for None.
func timeoutOf(c *clinic.Call, i int) (float64, error) {
	if c.None(i) {
		return -1, nil
	}
	t, err := c.Interp.Float(c.Args[i])
	if err == nil && t < 0 {
		err = c.Errorf(c.Exc.ValueError, "Timeout value out of range")
	}
	return t, err
}

// numbers are the functions between the orders of bytes, and between texts and bytes of addresses.
func (m *module) numbers() {
	for _, name := range []string{"htons", "ntohs"} {
		clinic.Def(m.Module, name, "x:int, /", func(c *clinic.Call) (vm.Object, error) {
			n := c.Int(0)
			switch {
			case n < 0:
				return nil, c.Errorf(c.Exc.OverflowError, "%s: can't convert negative Python int to C 16-bit unsigned integer", name)
			case n > 0xffff:
				return nil, c.Errorf(c.Exc.OverflowError, "%s: Python int too large to convert to C 16-bit unsigned integer", name)
			}
			return vm.MakeInt(n>>8 | n&0xff<<8), nil
		})
	}
	for _, name := range []string{"htonl", "ntohl"} {
		clinic.Def(m.Module, name, "x:int, /", func(c *clinic.Call) (vm.Object, error) {
			n := c.Int(0)
			if n < 0 || n > 0xffffffff {
				return nil, c.Errorf(c.Exc.OverflowError, "int larger than 32 bits")
			}
			return vm.MakeInt(n>>24 | n>>8&0xff00 | n<<8&0xff0000 | n<<24&0xff000000), nil
		})
	}
	clinic.Def(m.Module, "inet_aton", "ip_addr:str, /", func(c *clinic.Call) (vm.Object, error) {
		ip := net.ParseIP(c.Str(0)).To4()
		if ip == nil {
			return nil, c.Errorf(c.Exc.OSError, "illegal IP address string passed to inet_aton")
		}
		return vm.Bytes(ip), nil
	})
	clinic.Def(m.Module, "inet_ntoa", "packed_ip:bytes, /", func(c *clinic.Call) (vm.Object, error) {
		if len(c.Bytes(0)) != 4 {
			return nil, c.Errorf(c.Exc.OSError, "packed IP wrong length")
		}
		return vm.Str(net.IP(c.Bytes(0)).String()), nil
	})
	clinic.Def(m.Module, "inet_pton", "af:int, ip:str, /", func(c *clinic.Call) (vm.Object, error) {
		ip := net.ParseIP(c.Str(1))
		switch c.Int(0) {
		case unix.AF_INET:
			ip = ip.To4()
		case unix.AF_INET6:
			ip = ip.To16()
		default:
			return nil, c.OSErr(unix.EAFNOSUPPORT)
		}
		if ip == nil {
			return nil, c.Errorf(c.Exc.OSError, "illegal IP address string passed to inet_pton")
		}
		return vm.Bytes(ip), nil
	})
	clinic.Def(m.Module, "inet_ntop", "af:int, packed_ip:bytes, /", func(c *clinic.Call) (vm.Object, error) {
		want := map[int64]int{unix.AF_INET: 4, unix.AF_INET6: 16}[c.Int(0)]
		if want == 0 {
			return nil, c.Errorf(c.Exc.ValueError, "unknown address family %d", c.Int(0))
		}
		if len(c.Bytes(1)) != want {
			return nil, c.Errorf(c.Exc.ValueError, "invalid length of packed IP address string")
		}
		return vm.Str(net.IP(c.Bytes(1)).String()), nil
	})
}

// gai raises gaierror.
func (m *module) gai(c *clinic.Call, no int, text string) error {
	return c.RaiseObj(m.gaierror, vm.MakeInt(int64(no)), vm.Str(text))
}

// lookupError is what a failed look-up raises.
func (m *module) lookupError(c *clinic.Call, err error) error {
	var dns *net.DNSError
	if errors.As(err, &dns) && dns.IsTemporary {
		return m.gai(c, -3, "Temporary failure in name resolution")
	}
	return m.gai(c, -2, "Name or service not known")
}

// resolve finds the addresses of a host, of one family or of both.
func (m *module) resolve(c *clinic.Call, host string, family int) ([]net.IP, error) {
	network := map[int]string{unix.AF_INET: "ip4", unix.AF_INET6: "ip6", unix.AF_UNSPEC: "ip"}[family]
	if network == "" {
		return nil, m.gai(c, -6, "ai_family not supported")
	}
	var ips []net.IP
	err := c.Unlocked(func() (err error) {
		ips, err = net.DefaultResolver.LookupIP(context.Background(), network, host)
		return err
	})
	if err != nil {
		return nil, m.lookupError(c, err)
	}
	return ips, nil
}

// port reads a service: a number, or a name.
func (m *module) port(c *clinic.Call, o vm.Object) (int, error) {
	if o == vm.None {
		return 0, nil
	}
	if n, ok := vm.AsInt(o); ok {
		return int(n), nil
	}
	s, ok := vm.AsStr(o)
	if b, isBytes := vm.AsBytes(o); isBytes && !ok {
		s, ok = string(b), true
	}
	if !ok {
		return 0, c.Errorf(c.Exc.OSError, "Int or String expected")
	}
	if n, err := strconv.Atoi(s); err == nil {
		return n, nil
	}
	n, err := net.LookupPort("tcp", s)
	if err != nil {
		return 0, m.gai(c, -8, "Servname not supported for ai_socktype")
	}
	return n, nil
}

// names are the functions that look hosts and services up.
func (m *module) names() {
	clinic.Def(m.Module, "getaddrinfo", "host, port, family:int=0, type:int=0, proto:int=0, flags:int=0", m.getaddrinfo)
	first := func(c *clinic.Call, i int) (net.IP, string, error) {
		host, ok := vm.AsStr(c.Args[i])
		if !ok {
			return nil, "", c.Errorf(c.Exc.TypeError, "str, bytes or bytearray expected, not %s", vm.TypeName(c.Args[i]))
		}
		ips, err := m.resolve(c, host, unix.AF_INET)
		if err != nil {
			return nil, "", err
		}
		return ips[0], host, nil
	}
	clinic.Def(m.Module, "gethostbyname", "host, /", func(c *clinic.Call) (vm.Object, error) {
		ip, _, err := first(c, 0)
		if err != nil {
			return nil, err
		}
		return vm.Str(ip.String()), nil
	})
	triple := func(name string, ip net.IP) vm.Object {
		return vm.NewTuple(vm.Str(name), &vm.List{}, vm.NewList(vm.Str(ip.String())))
	}
	clinic.Def(m.Module, "gethostbyname_ex", "host, /", func(c *clinic.Call) (vm.Object, error) {
		ip, host, err := first(c, 0)
		if err != nil {
			return nil, err
		}
		return triple(host, ip), nil
	})
	clinic.Def(m.Module, "gethostbyaddr", "host, /", func(c *clinic.Call) (vm.Object, error) {
		ip, host, err := first(c, 0)
		if err != nil {
			return nil, err
		}
		if names, err := net.LookupAddr(ip.String()); err == nil && len(names) > 0 {
			host = names[0]
		}
		return triple(host, ip), nil
	})
	clinic.Def(m.Module, "gethostname", "", func(c *clinic.Call) (vm.Object, error) {
		n, err := os.Hostname()
		if err != nil {
			return nil, c.OSErr(err)
		}
		return vm.Str(n), nil
	})
	clinic.Def(m.Module, "getservbyname", "name:str, protocol:str=\"tcp\", /", func(c *clinic.Call) (vm.Object, error) {
		n, err := net.LookupPort(c.Str(1), c.Str(0))
		if err != nil {
			return nil, c.Errorf(c.Exc.OSError, "service/proto not found")
		}
		return vm.MakeInt(int64(n)), nil
	})
	clinic.Def(m.Module, "getservbyport", "port:int, protocol:str=\"\", /", func(c *clinic.Call) (vm.Object, error) {
		port, want := c.Int(0), c.Str(1)
		if port < 0 || port > 0xffff {
			return nil, c.Errorf(c.Exc.OverflowError, "getservbyport: port must be 0-65535.")
		}
		text, _ := os.ReadFile("/etc/services")
		for _, line := range strings.Split(string(text), "\n") {
			line, _, _ = strings.Cut(line, "#")
			if f := strings.Fields(line); len(f) > 1 {
				n, proto, _ := strings.Cut(f[1], "/")
				if n == strconv.FormatInt(port, 10) && (want == "" || want == proto) {
					return vm.Str(f[0]), nil
				}
			}
		}
		return nil, c.Errorf(c.Exc.OSError, "port/proto not found")
	})
	clinic.Def(m.Module, "if_nametoindex", "name:str, /", func(c *clinic.Call) (vm.Object, error) {
		i, err := net.InterfaceByName(c.Str(0))
		if err != nil {
			return nil, c.Errorf(c.Exc.OSError, "no interface with this name")
		}
		return vm.MakeInt(int64(i.Index)), nil
	})
	clinic.Def(m.Module, "if_indextoname", "index:int, /", func(c *clinic.Call) (vm.Object, error) {
		i, err := net.InterfaceByIndex(int(c.Int(0)))
		if err != nil {
			return nil, c.OSErr(unix.ENXIO)
		}
		return vm.Str(i.Name), nil
	})
	clinic.Def(m.Module, "getprotobyname", "name:str, /", func(c *clinic.Call) (vm.Object, error) {
		n, ok := map[string]int64{"ip": 0, "icmp": 1, "tcp": 6, "udp": 17, "ipv6": 41, "raw": 255}[c.Str(0)]
		if !ok {
			return nil, c.Errorf(c.Exc.OSError, "protocol not found")
		}
		return vm.MakeInt(n), nil
	})
	clinic.Def(m.Module, "getnameinfo", "sockaddr, flags:int, /", func(c *clinic.Call) (vm.Object, error) {
		t, ok := vm.AsTuple(c.Args[0])
		if !ok || len(t.Items) < 2 {
			return nil, c.Errorf(c.Exc.TypeError, "getnameinfo() argument 1 must be a tuple")
		}
		host, _ := vm.AsStr(t.Items[0])
		port, _ := vm.AsInt(t.Items[1])
		name := host
		if c.Int(1)&1 == 0 {
			if names, err := net.LookupAddr(host); err == nil && len(names) > 0 {
				name = names[0]
			}
		}
		return vm.NewTuple(vm.Str(name), vm.Str(strconv.FormatInt(port, 10))), nil
	})
	clinic.Def(m.Module, "if_nameindex", "", func(c *clinic.Call) (vm.Object, error) {
		l := &vm.List{}
		ifs, err := net.Interfaces()
		if err != nil {
			return nil, c.OSErr(err)
		}
		for _, i := range ifs {
			l.Items = append(l.Items, vm.NewTuple(vm.MakeInt(int64(i.Index)), vm.Str(i.Name)))
		}
		return l, nil
	})
}

// getaddrinfo is getaddrinfo: every address of a host, for each type of socket that is asked for.
func (m *module) getaddrinfo(c *clinic.Call) (vm.Object, error) {
	port, err := m.port(c, c.Args[1])
	if err != nil {
		return nil, err
	}
	family := int(c.Int(2))
	var ips []net.IP
	host, isText := vm.AsStr(c.Args[0])
	if b, ok := vm.AsBytes(c.Args[0]); ok && !isText {
		host, isText = string(b), true
	}
	switch {
	case c.None(0) || host == "" && isText:
		ips = []net.IP{net.IPv6loopback, net.IPv4(127, 0, 0, 1)}
		if c.Int(5)&1 != 0 {
			ips = []net.IP{net.IPv4zero, net.IPv6zero}
		}
	case !isText:
		return nil, c.Errorf(c.Exc.TypeError, "getaddrinfo() argument 1 must be string or None")
	default:
		if ip := net.ParseIP(host); ip != nil {
			ips = []net.IP{ip}
		} else if c.Int(5)&4 != 0 {
			return nil, m.gai(c, -2, "Name or service not known")
		} else if ips, err = m.resolve(c, host, family); err != nil {
			return nil, err
		}
	}
	l := &vm.List{}
	for _, ip := range ips {
		f := unix.AF_INET6
		if ip.To4() != nil {
			f = unix.AF_INET
		}
		if family != unix.AF_UNSPEC && family != f {
			continue
		}
		for _, kind := range [][2]int{{unix.SOCK_STREAM, 6}, {unix.SOCK_DGRAM, 17}, {unix.SOCK_RAW, 0}} {
			if t := int(c.Int(3)); t != 0 && t != kind[0] {
				continue
			}
			if p := int(c.Int(4)); p != 0 && p != kind[1] && kind[1] != 0 {
				continue
			}
			addr := vm.NewTuple(vm.Str(ip.String()), vm.MakeInt(int64(port)))
			if f == unix.AF_INET6 {
				addr = vm.NewTuple(vm.Str(ip.String()), vm.MakeInt(int64(port)), vm.Int(0), vm.Int(0))
			}
			l.Items = append(l.Items, vm.NewTuple(vm.MakeInt(int64(f)), vm.MakeInt(int64(kind[0])), vm.MakeInt(int64(kind[1])), vm.Str(""), addr))
		}
	}
	if len(l.Items) == 0 {
		return nil, m.gai(c, -9, "Address family for hostname not supported")
	}
	return l, nil
}
