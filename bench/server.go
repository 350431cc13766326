package bench

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/echomq/emqd/server/resp"
)

// Server is a server that is measured.
type Server struct {
	Addr    string `json:"addr"` // host:port, or the path of a Unix socket
	Name    string `json:"name"` // emqd, valkey or redis
	Version string `json:"version"`
	Native  bool   `json:"native"` // it has the job verbs; else they are scripts
	PID     int    `json:"pid,omitempty"`

	user, password string
	control        *control
	digests        map[string]string
	fenced         bool // we have put the fence value there
}

// Open connects to a server and finds out what it is.
func Open(addr, user, password string) (*Server, error) {
	s := &Server{Addr: addr, user: user, password: password, digests: map[string]string{}}
	var err error
	if s.control, err = s.dialControl(); err != nil {
		return nil, err
	}
	if err = s.identify(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Close ends the connection for questions.
func (s *Server) Close() error { return s.control.Close() }

// String names the server for people.
func (s *Server) String() string { return fmt.Sprintf("%s %s at %s", s.Name, s.Version, s.Addr) }

func (s *Server) identify() error {
	info, err := s.Info()
	if err != nil {
		return err
	}
	s.Name, s.Version = "redis", info["redis_version"]
	if name := info["server_name"]; name != "" {
		s.Name = name
	}
	if v := info[s.Name+"_version"]; v != "" {
		s.Version = v
	}
	_, err = s.Do("EMQ.VERSION")
	s.Native = err == nil
	if s.control.local() {
		if pid, err := strconv.Atoi(info["process_id"]); err == nil && runs(pid, info["executable"]) {
			s.PID = pid
		}
	}
	return nil
}

// Info returns the fields of INFO.
func (s *Server) Info(sections ...string) (map[string]string, error) {
	reply, err := s.Do(append([]string{"INFO"}, sections...)...)
	if err != nil {
		return nil, err
	}
	text, ok := reply.(string)
	if !ok {
		return nil, fmt.Errorf("INFO is answered with a %T", reply)
	}
	fields := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), ":"); ok {
			fields[name] = value
		}
	}
	return fields, nil
}

// Do sends a request and returns the reply as a string, an int64, a []any or nil. An error reply is the error.
func (s *Server) Do(args ...string) (any, error) { return s.control.do(args...) }

// head returns how a request of a verb begins: its name, or where there are no verbs the script that does the same, which
// the server then knows.
func (s *Server) head(verb string) ([]string, error) {
	if s.Native {
		return []string{verb}, nil
	}
	body, ok := scripts[verb]
	if verb == settleFlowVerb {
		body, ok = settleFlow, true
	}
	if !ok {
		return nil, fmt.Errorf("%s has no %s, and there is no script that does the same", s.Addr, verb)
	}
	sha := s.digests[verb]
	if sha == "" {
		reply, err := s.Do("SCRIPT", "LOAD", body)
		if err != nil {
			return nil, fmt.Errorf("the script for %s: %w", verb, err)
		}
		sha, _ = reply.(string)
		s.digests[verb] = sha
	}
	return []string{"EVALSHA", sha}, nil
}

// settleFlowVerb stands for the completion of a flow's parent, for which emqd has no verb of its own.
const settleFlowVerb = "EMQ.COMPLETE flow"

// fence requires the fence value of a node with the verbs, and puts it on a server without, until cleanup.
func (s *Server) fence() error {
	reply, err := s.Do("GET", fenceKey)
	if err != nil {
		return err
	}
	switch {
	case reply == fenceValue:
		return nil
	case reply != nil:
		return fmt.Errorf("%s at %s holds %q, not %s", fenceKey, s.Addr, reply, fenceValue)
	case s.Native:
		return fmt.Errorf("the node at %s has no %s yet: send it EMQ.INSTALL once, or start it with --install", s.Addr, fenceKey)
	}
	s.fenced = true
	_, err = s.Do("SET", fenceKey, fenceValue)
	return err
}

// Clean removes every key that begins with a prefix, and the fence value when it was put there for the load.
func (s *Server) Clean(prefixes ...string) error {
	if s.fenced {
		s.fenced = false
		if _, err := s.Do("DEL", fenceKey); err != nil {
			return err
		}
	}
	for _, prefix := range prefixes {
		cursor := "0"
		for first := true; first || cursor != "0"; first = false {
			reply, err := s.Do("SCAN", cursor, "MATCH", prefix+"*", "COUNT", "1000")
			if err != nil {
				return err
			}
			parts, ok := reply.([]any)
			if !ok || len(parts) != 2 {
				return fmt.Errorf("SCAN is answered %v", reply)
			}
			cursor, _ = parts[0].(string)
			args := []string{"UNLINK"}
			keys, _ := parts[1].([]any)
			for _, k := range keys {
				args = append(args, fmt.Sprint(k))
			}
			if len(args) == 1 {
				continue
			}
			if _, err := s.Do(args...); err != nil {
				return err
			}
		}
	}
	return nil
}

// control is a connection for questions, one at a time.
type control struct {
	net.Conn
	replies *resp.ReplyReader
}

func (s *Server) dial() (net.Conn, error) {
	network := "tcp"
	if strings.HasPrefix(s.Addr, "/") {
		network = "unix"
	}
	return net.DialTimeout(network, s.Addr, 5*time.Second)
}

// dialControl opens a connection and authenticates it.
func (s *Server) dialControl() (*control, error) {
	nc, err := s.dial()
	if err != nil {
		return nil, err
	}
	c := &control{nc, resp.NewReplyReader(nc)}
	if s.password == "" {
		return c, nil
	}
	auth := []string{"AUTH", s.password}
	if s.user != "" {
		auth = []string{"AUTH", s.user, s.password}
	}
	if _, err := c.do(auth...); err != nil {
		return nil, errors.Join(err, nc.Close())
	}
	return c, nil
}

// local reports whether the server is on this machine, as far as addresses tell.
func (c *control) local() bool {
	here, ok := c.LocalAddr().(*net.TCPAddr)
	if !ok {
		return true // a Unix socket
	}
	there, ok := c.RemoteAddr().(*net.TCPAddr)
	return ok && here.IP.Equal(there.IP)
}

func (c *control) do(args ...string) (any, error) {
	if _, err := c.Write(resp.AppendRequest(nil, args...)); err != nil {
		return nil, err
	}
	b, err := c.replies.Next()
	if err != nil {
		return nil, err
	}
	reply, _ := decode(b)
	if err, ok := reply.(error); ok {
		return nil, fmt.Errorf("%s: %w", args[0], err)
	}
	return reply, nil
}
