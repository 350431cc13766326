package server

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/echomq/emqd/commands"
	"github.com/echomq/emqd/store"
	"github.com/echomq/emqd/store/num"
)

var debugRows = []commands.Row{{
	Name: "debug", Family: "server", Arity: -2, Do: cmdDebug, Since: "1.0.0", Syntax: "subcommand [arg [arg ...]]",
	Flags:   commands.Admin | commands.NoScript | commands.Loading | commands.Stale,
	Summary: "What tests and tools need; off unless enable-debug-command allows it.", Complexity: "That of the subcommand",
}}

// debugSub is one word of DEBUG: the least number of arguments behind it and what it does.
type debugSub struct {
	args int
	do   func(*commands.Call) error
}

var debugSubs = map[string]debugSub{
	"change-repl-id":             {0, debugOK},
	"digest":                     {0, debugDigest},
	"digest-value":               {0, debugDigestValue},
	"error":                      {1, debugError},
	"jmap":                       {0, debugOK},
	"loadaof":                    {0, debugLoadAOF},
	"log":                        {1, debugLog},
	"object":                     {1, debugObject},
	"protocol":                   {1, debugProtocol},
	"quicklist-packed-threshold": {1, debugOK},
	"reload":                     {0, debugReload},
	"set-active-expire":          {1, debugSetActiveExpire},
	"sleep":                      {1, debugSleep},
	"stringmatch-len":            {2, debugOK},
}

// cmdDebug handles DEBUG subcommand [arg ...].
//
// Reply:   depends on the word
// Errors:  not enabled, an unknown word
// Effects: none
func cmdDebug(c *commands.Call) error {
	s := c.Peer.(*session)
	if mode := s.srv.cfg.EnableDebugCommand; mode == "no" || mode == "local" && !s.local() {
		return commands.Error("ERR DEBUG command not allowed. If the enable-debug-command option is set to \"local\", " +
			"you can run it from a local connection, otherwise you need to set this option in the configuration file, and then restart the server.")
	}
	sub, ok := debugSubs[strings.ToLower(string(c.Args[1]))]
	if !ok || len(c.Args)-2 < sub.args {
		return commands.ErrSubSyntax(c.Args)
	}
	return sub.do(c)
}

// local reports whether the client is on this host.
func (s *session) local() bool {
	return strings.HasPrefix(s.addr, "127.") || strings.HasPrefix(s.addr, "[::1]") || s.unix
}

func debugOK(c *commands.Call) error {
	c.Reply.OK()
	return nil
}

func debugDigest(c *commands.Call) error {
	c.Reply.Simple(c.Tx.Store().Digest(c.Now()).String())
	return nil
}

func debugDigestValue(c *commands.Call) error {
	c.Reply.Array(len(c.Args) - 2)
	for _, key := range c.Args[2:] {
		c.Reply.Text(c.Tx.DigestKey(key).String())
	}
	return nil
}

func debugError(c *commands.Call) error { return commands.Error(commands.Echo(c.Args[2])) }

func debugLog(c *commands.Call) error {
	c.Peer.(*session).srv.log.Warn("DEBUG LOG", "text", string(c.Args[2]))
	c.Reply.OK()
	return nil
}

func debugSetActiveExpire(c *commands.Call) error {
	c.Peer.(*session).srv.noExpire = string(c.Args[2]) == "0"
	c.Reply.OK()
	return nil
}

// debugSleep stops the whole node for a while, as a slow command would.
func debugSleep(c *commands.Call) error {
	seconds, ok := num.Float(c.Args[2])
	if !ok || seconds < 0 {
		return commands.ErrNotFloat
	}
	time.Sleep(time.Duration(seconds * float64(time.Second)))
	c.Reply.OK()
	return nil
}

// debugProtocol answers one of every kind of reply, so that clients can test their parsers.
func debugProtocol(c *commands.Call) error {
	r := c.Reply
	switch strings.ToLower(string(c.Args[2])) {
	case "string":
		r.Text("Hello World")
	case "integer":
		r.Int(12345)
	case "double":
		r.Double(3.141)
	case "null":
		r.Null()
	case "array":
		r.Array(3)
		for i := range 3 {
			r.Int(int64(i))
		}
	case "set":
		r.Set(3)
		for i := range 3 {
			r.Int(int64(i))
		}
	case "map":
		r.Map(3)
		for i := range 3 {
			r.Int(int64(i))
			r.Bool(i == 1)
		}
	case "true":
		r.Bool(true)
	case "false":
		r.Bool(false)
	case "bignum":
		if r.RESP3() {
			r.Raw([]byte("(1234567999999999999999999999999999999\r\n"))
		} else {
			r.Text("1234567999999999999999999999999999999")
		}
	case "attrib":
		if r.RESP3() {
			r.Raw([]byte("|1\r\n$14\r\nkey-popularity\r\n*2\r\n$7\r\nkey:123\r\n:90\r\n"))
		}
		r.Text("Some real reply following the attribute")
	case "push":
		if !r.RESP3() {
			return commands.Error("ERR RESP2 is not supported by this command")
		}
		r.Push(2)
		r.Text("server-cpu-usage")
		r.Int(42)
	case "verbatim":
		r.Verbatim("This is a verbatim\nstring")
	default:
		return commands.Error("ERR Wrong protocol type name. Please use one of the following: " +
			"string|integer|double|null|array|set|map|attrib|push|verbatim|true|false|bignum")
	}
	return nil
}

// debugObject tells how a key's value is held.
func debugObject(c *commands.Call) error {
	key := c.Args[2]
	encoding := c.Tx.Encoding(key)
	if encoding == "" {
		return commands.ErrNoSuchKey
	}
	payload := c.Tx.Dump(key)
	idle, _ := c.Tx.Idle(key)
	c.Reply.Simple("Value at:0x0 refcount:1 encoding:" + encoding + " serializedlength:" + strconv.Itoa(len(payload)-10) +
		" lru:" + strconv.FormatInt(c.Now()/1000-idle, 10) + " lru_seconds_idle:" + strconv.FormatInt(idle, 10))
	return nil
}

// debugReload makes every value anew from its own dump, as a save and a load would.
func debugReload(c *commands.Call) error {
	db := c.Tx.DB()
	defer c.Tx.Select(db)
	for i := range c.Tx.Store().Databases() {
		c.Tx.Select(i)
		var keys [][]byte
		c.Tx.EachKey(func(key []byte, _ store.Kind) bool {
			keys = append(keys, bytes.Clone(key))
			return true
		})
		for _, key := range keys {
			at, _ := c.Tx.Expiry(key)
			idle, _ := c.Tx.Idle(key)
			if _, err := c.Tx.Restore(key, c.Tx.Dump(key), at, idle); err != nil {
				return err
			}
		}
	}
	c.Reply.OK()
	return nil
}

const errLoadAOF = commands.Error("ERR Error trying to load the AOF files, check server logs.")

// debugLoadAOF empties the keyspace and reads it again from the files of the log, as a start would. Nothing is lost when they
// cannot be read.
func debugLoadAOF(c *commands.Call) error {
	srv := c.Peer.(*session).srv
	if srv.aof == nil {
		return errLoadAOF
	}
	if err := srv.reloadLog(c); err != nil {
		srv.log.Error("DEBUG LOADAOF", "error", err)
		return errLoadAOF
	}
	c.Reply.OK()
	return nil
}

func (srv *Server) reloadLog(c *commands.Call) error {
	l, works := srv.aof, &srv.works
	switch {
	case c.Peer.(*session).inExec:
		return errors.New("inside a transaction")
	case works.now != nil:
		return errors.New("other work uses the files")
	case l.broken != nil:
		return l.broken
	}
	if err := l.w.Flush(); err != nil {
		return err
	}
	order := srv.order(l.files.Before(l.w.Name(), true), l.w.Written().Pos, false)
	replay := func(to *Server) error {
		files, err := order.files(srv.fsys)
		if err != nil {
			return err
		}
		return files.Replay(&replayer{srv: to, ctx: context.Background(), now: srv.now})
	}
	if err := replay(&Server{store: store.New(srv.cfg.Databases, 0), table: srv.table}); err != nil {
		return err
	}
	srv.aof = nil // what empties the keyspace is not for the log
	c.Tx.FlushAll()
	srv.settle()
	srv.aof = l
	err := replay(srv)
	for _, d := range srv.pump.dbs {
		d.rescan()
	}
	c.Tx = srv.store.Begin(0, srv.now, false)
	return err
}
