package server

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/commands"
	"github.com/echomq/emqd/store"
	"github.com/echomq/emqd/store/aof"
	"github.com/echomq/emqd/store/aof/memfs"
)

// bare is a node without sockets and timers, driven turn by turn, with everything that the log does as in a served one.
type bare struct {
	t   testing.TB
	srv *Server
	s   *session
	d   *disk

	digests  map[int64]store.Digest // of the keyspace, by the number of the last record
	acked    atomic.Int64           // number of the last record that power loss may not take
	answered atomic.Int64           // of the last one that the end of the process may not take
	written  atomic.Int64
	epoch    atomic.Int64
	rand     *rand.Rand
	held     [][2]string // ids and tokens of claimed jobs
	jobs     int
	payloads int // longest payload
}

// quiet is the transport of a session whose output the test takes.
type quiet struct{}

func (quiet) flush(*session)         {}
func (quiet) resume(*session)        {}
func (q quiet) close(*session)       {}
func mute() *slog.Logger             { return slog.New(slog.NewTextHandler(io.Discard, nil)) }
func (b *bare) digest() store.Digest { return b.srv.store.Digest(1) } // an instant at which everything is visible

// proofStep is in how many bytes files are cut before they are removed: few, so that there are several steps.
const proofStep = 500

func newBare(t testing.TB, d *disk, seed uint64) *bare {
	b := &bare{t: t, d: d, digests: map[int64]store.Digest{}, rand: rand.New(rand.NewPCG(seed, 1)), payloads: 40}
	d.mark = func() span { return span{b.acked.Load(), b.answered.Load(), b.written.Load(), b.epoch.Load()} }
	return b
}

// start is a start of the node on what its disk holds.
func (b *bare) start(change ...func(*Config)) error {
	cfg := NewConfig()
	cfg.Dir, cfg.Install = "/data", true
	for _, f := range change {
		f(cfg)
	}
	srv, err := New(cfg, mute())
	require.NoError(b.t, err)
	srv.fsys, srv.works.step, srv.works.rest = b.d, proofStep, 0
	b.epoch.Store(0)
	b.written.Add(1) // the fence, which a start may install
	load, err := srv.prepare(context.Background())
	if err != nil {
		return err
	}
	if load != nil {
		load()
	}
	srv.mu.Lock()
	defer srv.mu.Unlock()
	b.srv = srv
	b.connect()
	b.epoch.Store(srv.store.Epoch)
	maps.DeleteFunc(b.digests, func(seq int64, _ store.Digest) bool { return seq > srv.aof.w.Seq() }) // never to be there again
	b.note()
	if srv.aof.w.Seq() == 1 {
		b.digests[0] = commands.NewStore(16, 1).Digest(1)
	}
	b.acked.Store(srv.aof.w.Synced().Seq) // what it has read is what clients see from now on
	b.answered.Store(b.acked.Load())
	return nil
}

func (b *bare) connect() { b.s = b.srv.open(quiet{}, "proof", "proof") }

// note remembers the digest after the last record.
func (b *bare) note() {
	seq, now := b.srv.aof.w.Seq(), b.digest()
	if known, ok := b.digests[seq]; ok && b.srv.aof.broken == nil {
		require.Equal(b.t, known, now, "the keyspace changed without a record after %d", seq)
	}
	b.digests[seq] = now
	b.written.Store(seq)
}

// turn feeds requests as one turn of the event loop and returns their replies, "" when the connection was closed without.
func (b *bare) turn(requests ...string) string {
	srv := b.srv
	srv.mu.Lock()
	defer srv.mu.Unlock()
	srv.now = srv.clock.milli()
	for _, r := range requests {
		b.s.feed([]byte(r + "\r\n"))
		b.note()
	}
	srv.commitLog()
	if srv.aof.filling != nil { // so that a seed gives the same operations
		srv.aof.filled(srv.aof.filling, <-srv.aof.filling.done)
	}
	if b.s.closing {
		b.s.gone()
		b.connect()
		return ""
	}
	out := string(b.s.out)
	b.s.out, b.s.queued = nil, false
	if srv.aof.broken == nil && srv.aof.w.Buffered() == 0 {
		b.promised()
	}
	return out
}

// promised notes what appendfsync promises of everything that has been answered.
func (b *bare) promised() {
	w := b.srv.aof.w
	if b.srv.cfg.AppendFsync == "always" {
		require.Equal(b.t, w.Seq(), w.Synced().Seq)
	}
	b.acked.Store(w.Synced().Seq)
	b.answered.Store(w.Seq())
}

// second lets a second pass, as the timer sees it. The sync that this begins may end during later turns; wait has it end now.
func (b *bare) second(wait bool) {
	l := b.srv.aof
	for first, syncing := true, true; syncing; first = false {
		b.srv.mu.Lock()
		if first {
			l.syncAt = 0
			l.cron()
		}
		if syncing = wait && l.syncing; !syncing {
			b.promised()
		}
		b.srv.mu.Unlock()
		runtime.Gosched()
	}
}

var claimed = regexp.MustCompile(`\*3\r\n\$\d+\r\n(JOB\d+)\r\n\$\d+\r\n[^\r]*\r\n:(\d+)`)

// work does a random turn: one to four requests, of job verbs mostly.
func (b *bare) work() string {
	var requests []string
	for range 1 + b.rand.IntN(4)*b.rand.IntN(2) {
		requests = append(requests, b.request())
	}
	reply := b.turn(requests...)
	for _, m := range claimed.FindAllStringSubmatch(reply, -1) {
		b.held = append(b.held, [2]string{m[1], m[2]})
	}
	return reply
}

// request makes one request, or a MULTI with what is in it.
func (b *bare) request() string {
	r := b.rand
	q := "emq:{q}:"
	payload := strings.Repeat(string(rune('a'+r.IntN(26))), r.IntN(b.payloads))
	id, token := fmt.Sprintf("JOB%d", r.IntN(b.jobs+1)), "1"
	if n := len(b.held); n > 0 {
		i := r.IntN(n)
		id, token = b.held[i][0], b.held[i][1]
		if r.IntN(2) == 0 {
			b.held = append(b.held[:i], b.held[i+1:]...)
		}
	}
	switch n := r.IntN(20); n {
	case 0, 1, 2, 3:
		b.jobs++
		return fmt.Sprintf("EMQ.ENQUEUE 2 %sjob:JOB%d %spending JOB%d '%s'", q, b.jobs, q, b.jobs, payload)
	case 4:
		b.jobs++
		return fmt.Sprintf("EMQ.SCHEDULE 2 %sjob:JOB%d %sschedule JOB%d '%s' in %d", q, b.jobs, q, b.jobs, payload, 1_000_000*r.IntN(2))
	case 5, 6, 7:
		return fmt.Sprintf("EMQ.CLAIM 3 %spending %sactive %s %d", q, q, q, 1+1_000_000*r.IntN(2))
	case 8, 9:
		return fmt.Sprintf("EMQ.COMPLETE 3 %sactive %sjob:%s %s %s %s", q, q, id, q, id, token)
	case 10:
		return fmt.Sprintf("EMQ.FAIL 5 %sactive %sschedule %sdead %sjob:%s %s %s %s 0 3 '%s'", q, q, q, q, id, q, id, token, payload)
	case 11:
		return fmt.Sprintf("EMQ.PROMOTE 3 %sschedule %spending %s 10", q, q, q)
	case 12:
		return fmt.Sprintf("EMQ.STALLED.CHECK 4 %sactive %spending %sdead %s 2 10", q, q, q, q)
	case 13:
		return fmt.Sprintf("EMQ.EXTEND 2 %sactive %sjob:%s %s %s 1000000", q, q, id, id, token)
	case 14:
		return fmt.Sprintf("MULTI\r\nSET m%d '%s'\r\nSELECT %d\r\nINCR n\r\nRPUSH l '%s'\r\nSELECT 0\r\nEXEC", r.IntN(5), payload, r.IntN(3), payload)
	case 15:
		return fmt.Sprintf("SELECT %d\r\nSET k%d '%s' PX 100000000\r\nSELECT 0", r.IntN(3), r.IntN(9), payload)
	case 16:
		return fmt.Sprintf("HSET h f%d '%s' g %d", r.IntN(5), payload, r.IntN(9))
	case 17:
		return "XADD x * f '" + payload + "'"
	case 18:
		return fmt.Sprintf("ZINCRBY z 1.5 m%d", r.IntN(5))
	default:
		return fmt.Sprintf("DEL k%d m%d", r.IntN(9), r.IntN(5))
	}
}

// found is what a start finds.
type found struct {
	seq, epoch int64
	digest     store.Digest
	tail       *aof.Tail
}

var proofTable = Table()

// inspect reads what a start on fsys would read, and changes nothing.
func inspect(fsys aof.FS) (found, error) {
	files, err := aof.Open(fsys, "/data/appendonlydir", "appendonly.aof", false)
	if err != nil {
		return found{}, err
	}
	srv := &Server{store: commands.NewStore(16, 1), table: proofTable, clock: newClock(), log: mute()}
	srv.call.Reply = new(commands.Reply)
	if err := files.Replay(&replayer{srv: srv, ctx: context.Background(), now: srv.clock.milli()}); err != nil {
		return found{}, err
	}
	s := files.State()
	return found{s.Next - 1, s.Epoch, srv.store.Digest(1), s.Tail}, nil
}

// explains requires that what a start found is a state in which a crash within sp may leave the data.
func (b *bare) explains(got found, sp span, where string, args ...any) {
	b.t.Helper()
	where = fmt.Sprintf(where, args...)
	if got.seq < sp.acked || got.seq > sp.written || got.digest != b.digests[got.seq] || got.epoch < sp.epoch {
		require.Fail(b.t, "not a state that a crash may leave", "%s: found %d records and epoch %d; acknowledged %d, written %d, epoch %d; digest as known: %v",
			where, got.seq, got.epoch, sp.acked, sp.written, sp.epoch, got.digest == b.digests[got.seq])
	}
}

// again starts a node on a copy of fsys and requires the same data, and that crashes during that start leave it the same.
func (b *bare) again(fsys *memfs.FS, want found, r *rand.Rand) (points int) {
	b.t.Helper()
	d := diskOf(fsys)
	first := len(d.ops)
	n := newBare(b.t, d, 0)
	n.digests[want.seq] = want.digest
	n.acked.Store(want.seq)
	n.written.Store(want.seq)
	require.NoError(b.t, n.start(func(c *Config) { c.Install = false }))
	require.Equal(b.t, want.seq, n.srv.aof.w.Seq())
	require.Equal(b.t, want.epoch+1, n.srv.store.Epoch)
	p := newPlatter()
	for i, op := range d.ops {
		p.apply(op)
		if i < first || strings.HasSuffix(op.name, ".reserve") {
			continue
		}
		for _, f := range []fate{dropped, kept, zeroed, shuffled(r)} {
			points++
			got, err := inspect(p.after(f))
			require.NoError(b.t, err, "start, %s %s", op.kind, op.name)
			n.explains(got, op.span, "start, %s %s", op.kind, op.name)
		}
	}
	return points
}
