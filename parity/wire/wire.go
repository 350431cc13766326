// Package wire is a target of scripts over sockets: a running emqd or a real server.
package wire

import (
	"errors"
	"fmt"
	"net"
	"regexp"
	"strconv"
	"time"

	"github.com/echomq/emqd/parity/script"
	"github.com/echomq/emqd/server/resp"
)

// patience is how long a reply may take before the test fails.
const patience = 10 * time.Second

// Target is a script.Wire to one server, whose keyspace it empties.
type Target struct {
	network, address string

	control *conn // not seen by scripts
	conns   map[string]*conn
	proto   int
	used    bool // since the last Reset
}

type conn struct {
	net.Conn
	replies *resp.ReplyReader
}

// Dial connects to the server at address of the network "tcp" or "unix".
func Dial(network, address string) (*Target, error) {
	t := &Target{network: network, address: address, conns: map[string]*conn{}, proto: 2}
	var err error
	t.control, err = t.dial(2)
	return t, err
}

// Close closes the connections.
func (t *Target) Close() error {
	err := t.hangUp()
	return errors.Join(err, t.control.Close())
}

func (t *Target) hangUp() error {
	var err error
	for _, c := range t.conns {
		err = errors.Join(err, c.Close())
	}
	clear(t.conns)
	return err
}

func (t *Target) dial(proto int) (*conn, error) {
	nc, err := net.Dial(t.network, t.address)
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: nc, replies: resp.NewReplyReader(nc)}
	if proto == 3 {
		reply, err := c.ask([]string{"HELLO", "3"})
		if err == nil && reply[0] != '%' {
			err = fmt.Errorf("wire: HELLO 3 is answered %q", reply)
		}
		if err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (c *conn) send(args []string) error {
	_, err := c.Write(resp.AppendRequest(nil, args...))
	return err
}

func (c *conn) receive() ([]byte, error) {
	if err := c.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	return c.replies.Next()
}

func (c *conn) ask(args []string) ([]byte, error) {
	if err := c.send(args); err != nil {
		return nil, err
	}
	return c.receive()
}

// Control sends a request on a connection of version 2 that no script sees.
func (t *Target) Control(args ...string) ([]byte, error) { return t.control.ask(args) }

// Reset empties all databases, if they were used, and drops the connections.
func (t *Target) Reset(proto int) error {
	t.proto = proto
	if !t.used {
		return nil
	}
	t.used = false
	if err := t.hangUp(); err != nil {
		return err
	}
	reply, err := t.Control("FLUSHALL")
	if err == nil && string(reply) != "+OK\r\n" {
		err = fmt.Errorf("wire: FLUSHALL is answered %q", reply)
	}
	return err
}

// Now returns this machine's clock.
func (t *Target) Now() int64 { return time.Now().UnixMilli() }

func (t *Target) conn(name string) (*conn, error) {
	if c := t.conns[name]; c != nil {
		return c, nil
	}
	t.used = true
	c, err := t.dial(t.proto)
	if err == nil {
		t.conns[name] = c
	}
	return c, err
}

// Do sends a request on the unnamed connection.
func (t *Target) Do(args []string) ([]byte, error) {
	if err := t.Send("", args); err != nil {
		return nil, err
	}
	return t.Receive("")
}

// Send sends a request.
func (t *Target) Send(name string, args []string) error {
	c, err := t.conn(name)
	if err != nil {
		return err
	}
	return c.send(args)
}

// Receive returns the next reply or push.
func (t *Target) Receive(name string) ([]byte, error) {
	c, err := t.conn(name)
	if err != nil {
		return nil, err
	}
	return c.receive()
}

// Park sends a request and asks the server until it has one more blocked client.
func (t *Target) Park(name string, args []string) error {
	before, err := t.blocked()
	if err != nil {
		return err
	}
	if err := t.Send(name, args); err != nil {
		return err
	}
	for until := time.Now().Add(patience); time.Now().Before(until); {
		n, err := t.blocked()
		if err != nil || n > before {
			return err
		}
	}
	return fmt.Errorf("wire: %s does not block", script.Words(args))
}

var blockedClients = regexp.MustCompile(`blocked_clients:(\d+)`)

func (t *Target) blocked() (int, error) {
	info, err := t.Control("INFO", "clients")
	if err != nil {
		return 0, err
	}
	m := blockedClients.FindSubmatch(info)
	if m == nil {
		return 0, fmt.Errorf("wire: INFO clients has no blocked_clients: %q", info)
	}
	return strconv.Atoi(string(m[1]))
}

// Pipeline sends the requests at once on the unnamed connection and returns their replies.
func (t *Target) Pipeline(requests [][]string) ([][]byte, error) {
	c, err := t.conn("")
	if err != nil {
		return nil, err
	}
	var b []byte
	for _, args := range requests {
		b = resp.AppendRequest(b, args...)
	}
	sent := make(chan error, 1)
	go func() {
		_, err := c.Write(b)
		sent <- err
	}()
	replies := make([][]byte, 0, len(requests))
	for range requests {
		reply, err := c.receive()
		if err != nil {
			return nil, err
		}
		replies = append(replies, reply)
	}
	return replies, <-sent
}
