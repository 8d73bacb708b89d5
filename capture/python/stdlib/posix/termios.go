package posix

import (
	"errors"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// terminalNumbers are termios's constants on Linux.
const terminalNumbers = "B0=0 B50=1 B75=2 B110=3 B134=4 B150=5 B200=6 B300=7 B600=8 B1200=9 B1800=10 B2400=11 B4800=12 B9600=13 B19200=14 B38400=15 B57600=4097 " +
	"B115200=4098 B230400=4099 B460800=4100 B500000=4101 B576000=4102 B921600=4103 B1000000=4104 B1152000=4105 B1500000=4106 B2000000=4107 " +
	"B2500000=4108 B3000000=4109 B3500000=4110 B4000000=4111 CBAUDEX=4096 TCSANOW=0 TCSADRAIN=1 TCSAFLUSH=2 TCIFLUSH=0 TCOFLUSH=1 TCIOFLUSH=2 " +
	"TCOOFF=0 TCOON=1 TCIOFF=2 TCION=3 IGNBRK=1 BRKINT=2 IGNPAR=4 PARMRK=8 INPCK=16 ISTRIP=32 INLCR=64 IGNCR=128 ICRNL=256 IUCLC=512 " +
	"IXON=1024 IXANY=2048 IXOFF=4096 IMAXBEL=8192 OPOST=1 OLCUC=2 ONLCR=4 OCRNL=8 ONOCR=16 ONLRET=32 OFILL=64 OFDEL=128 NLDLY=256 CRDLY=1536 " +
	"TABDLY=6144 BSDLY=8192 VTDLY=16384 FFDLY=32768 NL0=0 NL1=256 CR0=0 CR1=512 CR2=1024 CR3=1536 TAB0=0 TAB1=2048 TAB2=4096 TAB3=6144 " +
	"XTABS=6144 BS0=0 BS1=8192 VT0=0 VT1=16384 FF0=0 FF1=32768 CSIZE=48 CSTOPB=64 CREAD=128 PARENB=256 PARODD=512 HUPCL=1024 CLOCAL=2048 " +
	"CIBAUD=269418496 CRTSCTS=2147483648 CS5=0 CS6=16 CS7=32 CS8=48 ISIG=1 ICANON=2 XCASE=4 ECHO=8 ECHOE=16 ECHOK=32 ECHONL=64 ECHOCTL=512 " +
	"ECHOPRT=1024 ECHOKE=2048 FLUSHO=4096 NOFLSH=128 TOSTOP=256 PENDIN=16384 IEXTEN=32768 VINTR=0 VQUIT=1 VERASE=2 VKILL=3 VEOF=4 VTIME=5 " +
	"VMIN=6 VSWTC=7 VSWTCH=7 VSTART=8 VSTOP=9 VSUSP=10 VEOL=11 VREPRINT=12 VDISCARD=13 VWERASE=14 VLNEXT=15 VEOL2=16 CBAUD=4111 CDSUSP=25 " +
	"CEOF=4 CEOL=0 CEOT=4 CERASE=127 CFLUSH=15 CINTR=3 CKILL=21 CLNEXT=22 CQUIT=28 CRPRNT=18 CSTART=17 CSTOP=19 CSUSP=26 CWERASE=23 EXTA=14 " +
	"EXTB=15 FIOASYNC=21586 FIOCLEX=21585 FIONBIO=21537 FIONCLEX=21584 FIONREAD=21531 IOCSIZE_MASK=1073676288 IOCSIZE_SHIFT=16 NCC=8 NCCS=32 " +
	"N_MOUSE=2 N_PPP=3 N_SLIP=1 N_STRIP=4 N_TTY=0 TCFLSH=21515 TCGETA=21509 TCGETS=21505 TCSBRK=21513 TCSBRKP=21541 TCSETA=21510 " +
	"TCSETAF=21512 TCSETAW=21511 TCSETS=21506 TCSETSF=21508 TCSETSW=21507 TCXONC=21514 TIOCCONS=21533 TIOCEXCL=21516 TIOCGETD=21540 " +
	"TIOCGICOUNT=21597 TIOCGLCKTRMIOS=21590 TIOCGPGRP=21519 TIOCGSERIAL=21534 TIOCGSOFTCAR=21529 TIOCGWINSZ=21523 TIOCINQ=21531 " +
	"TIOCLINUX=21532 TIOCMBIC=21527 TIOCMBIS=21526 TIOCMGET=21525 TIOCMIWAIT=21596 TIOCMSET=21528 TIOCM_CAR=64 TIOCM_CD=64 TIOCM_CTS=32 " +
	"TIOCM_DSR=256 TIOCM_DTR=2 TIOCM_LE=1 TIOCM_RI=128 TIOCM_RNG=128 TIOCM_RTS=4 TIOCM_SR=16 TIOCM_ST=8 TIOCNOTTY=21538 TIOCNXCL=21517 " +
	"TIOCOUTQ=21521 TIOCPKT=21536 TIOCPKT_DATA=0 TIOCPKT_DOSTOP=32 TIOCPKT_FLUSHREAD=1 TIOCPKT_FLUSHWRITE=2 TIOCPKT_NOSTOP=16 TIOCPKT_START=8 " +
	"TIOCPKT_STOP=4 TIOCSCTTY=21518 TIOCSERCONFIG=21587 TIOCSERGETLSR=21593 TIOCSERGETMULTI=21594 TIOCSERGSTRUCT=21592 TIOCSERGWILD=21588 " +
	"TIOCSERSETMULTI=21595 TIOCSERSWILD=21589 TIOCSER_TEMT=1 TIOCSETD=21539 TIOCSLCKTRMIOS=21591 TIOCSPGRP=21520 TIOCSSERIAL=21535 " +
	"TIOCSSOFTCAR=21530 TIOCSTI=21522 TIOCSWINSZ=21524"

// specialChars is how many characters with a meaning a terminal's attributes have for a program; the kernel knows fewer.
const specialChars = 32

// speedBits are those of the control modes in which the speed of a line stands.
const speedBits = unix.CBAUD | unix.CBAUDEX

// termiosModule is termios, how terminals work.
func termiosModule(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("termios", "")
	for _, f := range strings.Fields(terminalNumbers) {
		name, digits, _ := strings.Cut(f, "=")
		n, _ := strconv.ParseInt(digits, 10, 64)
		m.Set(name, vm.MakeInt(n))
	}
	failed, err := in.MakeClass(vm.TypeType, "error", []*vm.Type{in.Exc.Exception}, vm.StrDict("__module__", vm.Str("termios")))
	if err != nil {
		return nil, err
	}
	m.Set("error", failed)
	fail := func(c *clinic.Call, err error) (vm.Object, error) {
		var no unix.Errno
		switch {
		case err == nil:
			return vm.None, nil
		case errors.As(err, &no):
			return nil, c.RaiseObj(failed, vm.MakeInt(int64(no)), vm.Str(vm.StrError(no)))
		}
		return nil, err
	}
	clinic.Def(m, "tcgetattr", "fd:fd, /", func(c *clinic.Call) (vm.Object, error) {
		t, err := unix.IoctlGetTermios(int(c.Int(0)), unix.TCGETS)
		if err != nil {
			return fail(c, err)
		}
		return terminalAttrs(t), nil
	})
	clinic.Def(m, "tcsetattr", "fd:fd, when:int, attributes, /", func(c *clinic.Call) (vm.Object, error) {
		fd := int(c.Int(0))
		t, err := unix.IoctlGetTermios(fd, unix.TCGETS)
		if err != nil {
			return fail(c, err)
		}
		if err := setTerminalAttrs(c, t, c.Args[2]); err != nil {
			return nil, err
		}
		when := c.Int(1)
		if when < 0 || when > 2 {
			return fail(c, unix.EINVAL)
		}
		return fail(c, c.Unlocked(func() error { return unix.IoctlSetTermios(fd, unix.TCSETS+uint(when), t) }))
	})
	for _, f := range []struct {
		name, params string
		request      uint
		arg          func(c *clinic.Call) int64
	}{
		{"tcsendbreak", "fd:fd, duration:int, /", unix.TCSBRKP, func(c *clinic.Call) int64 { return c.Int(1) }},
		{"tcdrain", "fd:fd, /", unix.TCSBRK, func(*clinic.Call) int64 { return 1 }},
		{"tcflush", "fd:fd, queue:int, /", unix.TCFLSH, func(c *clinic.Call) int64 { return c.Int(1) }},
		{"tcflow", "fd:fd, action:int, /", unix.TCXONC, func(c *clinic.Call) int64 { return c.Int(1) }},
	} {
		clinic.Def(m, f.name, f.params, func(c *clinic.Call) (vm.Object, error) {
			return fail(c, c.Unlocked(func() error { return unix.IoctlSetInt(int(c.Int(0)), f.request, int(f.arg(c))) }))
		})
	}
	clinic.Def(m, "tcgetwinsize", "fd:fd, /", func(c *clinic.Call) (vm.Object, error) {
		w, err := unix.IoctlGetWinsize(int(c.Int(0)), unix.TIOCGWINSZ)
		if err != nil {
			return fail(c, err)
		}
		return vm.NewTuple(vm.MakeInt(int64(w.Row)), vm.MakeInt(int64(w.Col))), nil
	})
	clinic.Def(m, "tcsetwinsize", "fd:fd, winsize, /", func(c *clinic.Call) (vm.Object, error) {
		size, err := c.IterAll(c.Args[1])
		if err != nil || len(size) != 2 {
			return nil, c.Errorf(c.Exc.TypeError, "tcsetwinsize, arg 2: must be a two-item sequence")
		}
		w, err := unix.IoctlGetWinsize(int(c.Int(0)), unix.TIOCGWINSZ)
		if err != nil {
			return fail(c, err)
		}
		for i, p := range []*uint16{&w.Row, &w.Col} {
			n, err := c.Index(size[i])
			switch {
			case err != nil:
				return nil, err
			case n != int64(uint16(n)):
				return nil, c.Errorf(c.Exc.OverflowError, "winsize value(s) out of range.")
			}
			*p = uint16(n)
		}
		return fail(c, unix.IoctlSetWinsize(int(c.Int(0)), unix.TIOCSWINSZ, w))
	})
	return m, nil
}

// terminalAttrs is the list of a terminal's attributes. Two of its characters are numbers where it does not wait for lines.
func terminalAttrs(t *unix.Termios) vm.Object {
	chars := &vm.List{}
	for i := range specialChars {
		b := byte(0)
		if i < len(t.Cc) {
			b = t.Cc[i]
		}
		if t.Lflag&unix.ICANON == 0 && (i == unix.VMIN || i == unix.VTIME) {
			chars.Items = append(chars.Items, vm.MakeInt(int64(b)))
		} else {
			chars.Items = append(chars.Items, vm.Bytes([]byte{b}))
		}
	}
	l := &vm.List{}
	for _, n := range []uint32{t.Iflag, t.Oflag, t.Cflag, t.Lflag, t.Cflag & speedBits, t.Cflag & speedBits} {
		l.Items = append(l.Items, vm.MakeInt(int64(n)))
	}
	l.Items = append(l.Items, chars)
	return l
}

// setTerminalAttrs takes such a list.
func setTerminalAttrs(c *clinic.Call, t *unix.Termios, o vm.Object) error {
	l, ok := vm.AsList(o)
	if !ok || len(l.Items) != 7 {
		return c.Errorf(c.Exc.TypeError, "tcsetattr, arg 3: must be 7 element list")
	}
	var n [6]uint32
	for i := range n {
		v, err := c.Index(l.Items[i])
		if err != nil {
			return err
		}
		n[i] = uint32(v)
	}
	chars, ok := vm.AsList(l.Items[6])
	if !ok || len(chars.Items) != specialChars {
		return c.Errorf(c.Exc.TypeError, "tcsetattr: attributes[6] must be %d element list", specialChars)
	}
	for i, o := range chars.Items {
		var b byte
		if s, ok := vm.AsBytes(o); ok && len(s) == 1 {
			b = s[0]
		} else if v, ok := vm.AsInt(o); ok {
			b = byte(v)
		} else {
			return c.Errorf(c.Exc.TypeError, "tcsetattr: elements of attributes must be characters or integers")
		}
		if i < len(t.Cc) {
			t.Cc[i] = b
		}
	}
	t.Iflag, t.Oflag, t.Lflag = n[0], n[1], n[3]
	t.Cflag = n[2]&^speedBits | n[5]&speedBits
	return nil
}
