package bench

import (
	"errors"
	"math/rand/v2"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// conn is one connection's part of a load. It does no input or output: a loop writes out, appends what it reads to in and
// calls receive. It has at most one batch of requests under way.
type conn struct {
	g       *group
	fd      int
	index   int
	blocked bool // the socket takes no more for now
	in      []byte
	out     []byte

	sent    int64 // when the batch was given to be sent
	waiting int   // replies that are still to come
	taken   int   // replies of the batch that came
	verb    int   // what the batch asks

	phase uint8
	todo  []int32 // queues of the jobs to be claimed
	held  []item
	from  int // first item of the pool that the batch uses
}

// item is a job that a connection holds.
type item struct {
	id, parent int64
	queue      int32
	tokenLen   uint8
	token      [20]byte
}

// driver decides what the connections of a group ask and judges the replies.
type driver interface {
	// batch appends the next requests of c to c.out and returns how many; 0 when there is nothing to do now.
	batch(c *conn, now int64) int
	// take judges the reply to the request i of the batch.
	take(c *conn, i int, reply []byte, now int64)
}

// group is the connections that drive the same work, and what was measured with them.
type group struct {
	e      *engine
	name   string
	conns  []*conn
	idle   []*conn
	spare  []*conn // room for the next list of idle ones
	driver driver
	ledger *ledger // nil for a load that works on the jobs of another
	fill   filling
	depth  int

	limit, begun int64   // operations to begin, 0 for any number, and begun
	rate         float64 // operations a second in an open loop
	origin       int64   // when the open loop began
	born         []int64 // intended begins of the batch being made

	measuring bool
	verbs     []verbStat
	ops       *hdrhistogram.Histogram
	done      int64 // operations in the measured time
	failed    map[string]int64
	empty     int64 // claims and pops that found nothing
}

// verbStat is what is known of one kind of request.
type verbStat struct {
	name string
	hist *hdrhistogram.Histogram
}

// histogram counts from a nanosecond to ten minutes with three digits.
func histogram() *hdrhistogram.Histogram { return hdrhistogram.New(1, 600e9, 3) }

func newGroup(e *engine, name string, depth int, random *rand.Rand, keys int) *group {
	g := &group{e: e, name: name, depth: depth, ops: histogram(), failed: map[string]int64{}}
	g.fill = filling{random: random, keys: keys, ids: make([]int64, 0, 10)}
	return g
}

// verb returns the index of a kind of request by its name.
func (g *group) verb(name string) int {
	for i := range g.verbs {
		if g.verbs[i].name == name {
			return i
		}
	}
	g.verbs = append(g.verbs, verbStat{name, histogram()})
	return len(g.verbs) - 1
}

// begin returns how many operations, at most n, a connection may begin, and leaves in born when each was meant to. In an
// open loop these are the ones that are due.
func (g *group) begin(n int, now int64) int {
	if g.e.stopping || !g.e.ready {
		return 0
	}
	if g.limit > 0 {
		n = int(min(int64(n), g.limit-g.begun))
	}
	g.born = g.born[:0]
	for range n {
		at := now
		if g.rate > 0 {
			if at = g.arrival(); at > now {
				break
			}
		}
		g.born = append(g.born, at)
		g.begun++
	}
	return len(g.born)
}

// arrival is when the next operation of an open loop is due.
func (g *group) arrival() int64 { return g.origin + int64(float64(g.begun)*1e9/g.rate) }

// record notes the latency of one request.
func (g *group) record(c *conn, start, now int64) {
	if g.e.pauseLimit > 0 && now-start > g.e.pauseLimit {
		g.e.pause(start, now)
	}
	if g.measuring {
		record(g.verbs[c.verb].hist, now-start)
	}
}

// finish notes the end of an operation.
func (g *group) finish(born, now int64) {
	if g.measuring {
		g.done++
		record(g.ops, now-born)
	}
}

// record counts a latency; what is off the scale counts as its end.
func record(h *hdrhistogram.Histogram, nanos int64) {
	if h.RecordValue(max(nanos, 1)) != nil {
		_ = h.RecordValue(h.HighestTrackableValue())
	}
}

// fail counts a reply that is wrong, by its first hundred bytes.
func (g *group) fail(verb, text string) {
	if len(g.failed) >= 32 {
		text = "other errors"
	}
	g.failed[verb+": "+text[:min(len(text), 100)]]++
}

// mostFailed is the wrong reply that came most often.
func (g *group) mostFailed() error {
	most := "there was nothing to work on"
	for text, n := range g.failed {
		if n > g.failed[most] {
			most = text
		}
	}
	return errors.New(most)
}

// next has the connection send its next batch, or be idle.
func (c *conn) next(now int64) {
	n := c.g.driver.batch(c, now)
	if n == 0 {
		c.g.idle = append(c.g.idle, c)
		return
	}
	c.sent, c.waiting, c.taken = now, n, 0
	c.g.e.busy++
	c.g.e.dirty = append(c.g.e.dirty, c)
}

// receive judges the replies in c.in. When the batch is answered, the next one is in c.out.
func (c *conn) receive(now int64) error {
	at := 0
	for c.waiting > 0 {
		n, err := frame(c.in[at:])
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
		c.g.driver.take(c, c.taken, c.in[at:at+n], now)
		at += n
		c.taken++
		c.waiting--
	}
	c.in = c.in[:copy(c.in, c.in[at:])]
	if c.waiting == 0 {
		c.g.e.busy--
		c.next(now)
	}
	return nil
}
