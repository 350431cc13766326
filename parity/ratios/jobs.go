package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// The peer's job cycle: what a user would run as scripts, with the checks that keep a queue sound and no more.
const (
	luaEnqueue = `if redis.call('GET','{emq}:version')~='echomq:6.0.0' then return redis.error_reply('EMQWIRE') end
if redis.call('EXISTS',KEYS[1])==1 then return 0 end
redis.call('HSET',KEYS[1],'state','pending','attempts','0','payload',ARGV[2])
redis.call('ZADD',KEYS[2],0,ARGV[1]) return 1`
	luaClaim = `if redis.call('GET','{emq}:version')~='echomq:6.0.0' then return redis.error_reply('EMQWIRE') end
if redis.call('HEXISTS',KEYS[3]..'meta','paused')==1 then return {} end
local m=redis.call('ZPOPMIN',KEYS[1]) local id=m[1] if not id then return {} end
local t=redis.call('TIME') local job=KEYS[3]..'job:'..id local n=redis.call('HINCRBY',job,'attempts',1)
redis.call('HSET',job,'state','active')
redis.call('ZADD',KEYS[2],t[1]*1000+math.floor(t[2]/1000)+ARGV[1],id)
return {id,redis.call('HGET',job,'payload'),n}`
	luaComplete = `if redis.call('GET','{emq}:version')~='echomq:6.0.0' then return redis.error_reply('EMQWIRE') end
local n=redis.call('HGET',KEYS[2],'attempts') if not n then return 0 end
if n~=ARGV[2] then return redis.error_reply('EMQSTALE complete token mismatch') end
redis.call('ZREM',KEYS[1],ARGV[1]) redis.call('DEL',KEYS[2])
redis.call('HINCRBY',KEYS[3]..'metrics:completed','count',1) return 1`
)

// verbs are the heads of the three commands of a cycle on one server: the verb, or EVALSHA and the script's digest.
type verbs [3][]string

// jobTable measures the job cycle in one mode of the log.
func jobTable(a, b *node, mode [2]string, rounds int) error {
	heading("Job cycle (enqueue, claim, complete), 100-byte payload, appendonly " + mode[0] + ", appendfsync " + mode[1])
	native := verbs{{"EMQ.ENQUEUE"}, {"EMQ.CLAIM"}, {"EMQ.COMPLETE"}}
	scripted, err := b.loadScripts()
	if err != nil {
		return err
	}
	for _, c := range [][3]int{{50, 1, 60_000}, {8, 1, 40_000}, {50, 16, 240_000}} {
		name := fmt.Sprintf("c=%d P=%d", c[0], c[1])
		err := pair(name, a, b, rounds, func(n *node) (result, error) {
			if n == a {
				return n.cycle(native, c[0], c[1], c[2])
			}
			return n.cycle(scripted, c[0], c[1], c[2])
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// loadScripts loads the peer's scripts and puts the fence value there.
func (n *node) loadScripts() (v verbs, err error) {
	c, err := n.dial()
	if err != nil {
		return v, err
	}
	defer c.Close()
	r := bufio.NewReader(c)
	if _, err := c.Write(request(nil, "SET", "{emq}:version", "echomq:6.0.0")); err != nil {
		return v, err
	}
	if _, err := line(r); err != nil {
		return v, err
	}
	for i, body := range []string{luaEnqueue, luaClaim, luaComplete} {
		if _, err := c.Write(request(nil, "SCRIPT", "LOAD", body)); err != nil {
			return v, err
		}
		sha, err := bulk(r)
		if err != nil {
			return v, err
		}
		v[i] = []string{"EVALSHA", sha}
	}
	return v, nil
}

// cycle works jobs through the node with a number of connections, each sending depth requests at a time. An
// operation is one whole job; its latency is that of one batch of one verb.
func (n *node) cycle(v verbs, conns, depth, jobs int) (result, error) {
	batches := max(jobs/conns/depth, 1)
	times := make([][]time.Duration, conns)
	errs := make([]error, conns)
	var wg sync.WaitGroup
	begin := time.Now()
	for i := range conns {
		wg.Go(func() { times[i], errs[i] = n.worker(v, i, depth, batches) })
	}
	wg.Wait()
	took := time.Since(begin).Seconds()
	if err := errors.Join(errs...); err != nil {
		return result{}, err
	}
	all := slices.Concat(times...)
	slices.Sort(all)
	done := float64(batches * conns * depth)
	return result{rate: done / took, p99: float64(all[len(all)*99/100].Microseconds()) / 1000, cpu: 1 / done}, nil
}

// worker works batches of jobs over one connection and returns how long each batch of a verb took.
func (n *node) worker(v verbs, worker, depth, batches int) (times []time.Duration, err error) {
	c, err := n.dial()
	if err != nil {
		return nil, err
	}
	defer c.Close()
	w := &jobConn{Conn: c, r: bufio.NewReaderSize(c, 64<<10), v: v, ids: make([]string, depth), tokens: make([]string, depth)}
	stamp := strconv.FormatInt(time.Now().UnixNano()%1e9, 36)
	for batch := range batches {
		for step, f := range []func(int) error{w.enqueue, w.claim, w.complete} {
			if step == 0 {
				for i := range w.ids {
					w.ids[i] = fmt.Sprintf("JOB%s%03d%08d", stamp, worker, batch*depth+i)
				}
			}
			begin := time.Now()
			if err := f(depth); err != nil {
				return nil, err
			}
			times = append(times, time.Since(begin))
		}
	}
	return times, nil
}

// jobConn is one worker's connection.
type jobConn struct {
	net.Conn
	r           *bufio.Reader
	v           verbs
	buf         []byte
	ids, tokens []string
}

const base = "emq:{ratios}:"

var payload = strings.Repeat("x", 100)

func (w *jobConn) enqueue(depth int) error {
	return w.batch(depth, 0, func(i int) []string {
		return []string{"2", base + "job:" + w.ids[i], base + "pending", w.ids[i], payload}
	}, w.one)
}

func (w *jobConn) claim(depth int) error {
	return w.batch(depth, 1, func(int) []string { return []string{"3", base + "pending", base + "active", base, "30000"} }, func(i int) error {
		head, err := line(w.r)
		if err != nil || head != "*3" {
			return fmt.Errorf("claim answered %q: %w", head, err)
		}
		if w.ids[i], err = bulk(w.r); err != nil {
			return err
		}
		if _, err = bulk(w.r); err != nil {
			return err
		}
		token, err := line(w.r)
		w.tokens[i] = strings.TrimPrefix(token, ":")
		return err
	})
}

func (w *jobConn) complete(depth int) error {
	return w.batch(depth, 2, func(i int) []string {
		return []string{"3", base + "active", base + "job:" + w.ids[i], base, w.ids[i], w.tokens[i]}
	}, w.one)
}

// one reads the reply 1.
func (w *jobConn) one(int) error {
	got, err := line(w.r)
	if err == nil && got != ":1" {
		return fmt.Errorf("answered %q instead of 1", got)
	}
	return err
}

// batch sends depth requests of one verb at once and reads their replies.
func (w *jobConn) batch(depth, verb int, args func(int) []string, read func(int) error) error {
	w.buf = w.buf[:0]
	for i := range depth {
		w.buf = request(w.buf, append(slices.Clone(w.v[verb]), args(i)...)...)
	}
	if _, err := w.Write(w.buf); err != nil {
		return err
	}
	for i := range depth {
		if err := read(i); err != nil {
			return err
		}
	}
	return nil
}

// request appends a request to b.
func request(b []byte, words ...string) []byte {
	b = append(b, '*')
	b = strconv.AppendInt(b, int64(len(words)), 10)
	for _, w := range words {
		b = append(b, "\r\n$"...)
		b = strconv.AppendInt(b, int64(len(w)), 10)
		b = append(b, "\r\n"...)
		b = append(b, w...)
	}
	return append(b, "\r\n"...)
}

func line(r *bufio.Reader) (string, error) {
	s, err := r.ReadString('\n')
	return strings.TrimRight(s, "\r\n"), err
}

// bulk reads a bulk string; another reply is an error.
func bulk(r *bufio.Reader) (string, error) {
	head, err := line(r)
	if err != nil {
		return "", err
	}
	n, err := strconv.Atoi(strings.TrimPrefix(head, "$"))
	if err != nil || head[0] != '$' {
		return "", fmt.Errorf("answered %q instead of a bulk string", head)
	}
	b := make([]byte, n+2)
	if _, err := io.ReadFull(r, b); err != nil {
		return "", err
	}
	return string(b[:n]), nil
}
