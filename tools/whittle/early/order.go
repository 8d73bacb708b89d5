package early

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// Order is what the process of a script is told.
type Order struct {
	Args []string // what follows __script on a command line
	Env  []string // NAME=VALUE, besides the environment that it has
}

// A Child is the process that was started early, and what it is talked to by.
type Child struct {
	Process *os.Process
	Pipe    *os.File // it reads its order from the other end, and writes events to it
}

// An order is written as
//
//	SIZE "\n" COUNT (NUL TEXT)*
//
// SIZE is the number of bytes after the line, COUNT that of the arguments; the texts are these and then the environment. Arguments may have any
// bytes but NUL.

// write writes o to w.
func (o Order) write(w io.Writer) error {
	texts := append(append([]string{strconv.Itoa(len(o.Args))}, o.Args...), o.Env...)
	body := strings.Join(texts, "\x00")
	_, err := io.WriteString(w, strconv.Itoa(len(body))+"\n"+body)
	return err
}

var errOrder = errors.New("early: this is no order")

// read reads what write wrote. The error is io.EOF where there is nothing.
func read(r io.Reader) (Order, error) {
	b := bufio.NewReader(r)
	line, err := b.ReadString('\n')
	if err != nil {
		return Order{}, err
	}
	size, err := strconv.ParseUint(strings.TrimSuffix(line, "\n"), 10, 32)
	if err != nil {
		return Order{}, errOrder
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(b, body); err != nil {
		return Order{}, err
	}
	texts := strings.Split(string(body), "\x00")
	n, err := strconv.Atoi(texts[0])
	if texts = texts[1:]; err != nil || n < 0 || n > len(texts) {
		return Order{}, errOrder
	}
	return Order{Args: texts[:n:n], Env: texts[n:]}, nil
}

// Give tells the child what to do.
func (c *Child) Give(o Order) error { return o.write(c.Pipe) }

// Wait waits for the order on r, in the child: it sets the environment, and gives the arguments. The error is io.EOF where there is nothing to do.
func Wait(r io.Reader) ([]string, error) {
	o, err := read(r)
	if err != nil {
		return nil, err
	}
	for _, v := range o.Env {
		name, value, _ := strings.Cut(v, "=")
		if err := os.Setenv(name, value); err != nil {
			return nil, fmt.Errorf("early: %w", err)
		}
	}
	return o.Args, nil
}
