// Package server runs a node: its listeners and event loop, the sessions of its clients, the gates that a
// command passes, and everything that lives beside the keyspace. One lock guards the keyspace and all of it; on
// Linux one event loop takes that lock once per turn and serves every plain TCP connection.
package server

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"github.com/tidwall/btree"

	"github.com/echomq/emqd/commands"
	"github.com/echomq/emqd/fence"
	"github.com/echomq/emqd/store"
	"github.com/echomq/emqd/store/aof"
)

// Server is one node.
type Server struct {
	cfg   *Config
	log   *slog.Logger
	clock *clock

	// mu is the keyspace lock. It guards everything below and every session.
	mu    sync.Mutex
	table *commands.Table
	store *store.Store
	now   int64 // Unix ms, the instant of the present command
	mono  int64 // Unix ns, when the present command began

	call    commands.Call
	args    [][]byte
	running *session // whose handler is running
	author  *session // whose transaction is being settled

	sessions map[int64]*session
	roster   []*session // the same
	checked  int        // place in it of the one that was looked at last
	nextID   int64
	buffers  buffers

	clientMem int64 // bytes that clients took when they were looked at last
	clientsAt int64 // Unix ms at which that is done again when they are many
	evictable int64 // of these, what maxmemory-clients limits

	watched   []map[string][]*session // by database and key
	watchers  int                     // entries in watched
	parked    []map[string][]*waiter  // by database and key, oldest first
	deadlines *btree.BTreeG[*waiter]
	overdue   int64         // Unix ns by which a turn must give the first of deadlines its reply
	touchedBy []touch       // keys with parked clients that the last transaction touched
	soon      []touch       // keys that a parked client is to be run for in the next turn
	touches   []store.Touch // scratch of touched
	parkSeq   uint64

	pubsub    pubsub
	lifecycle []lifecycleEvent // of the open transaction
	tracked   trackingTable
	trackers  int // sessions that track
	keysAt    []commands.KeyAt
	monitors  []*session
	pause     pause
	pump      pump
	unblocks  []unblock
	noExpire  bool // DEBUG SET-ACTIVE-EXPIRE 0
	slowlog   slowlog
	latency   latencyEvents
	acl       *acl
	scratch   aclScratch
	stats     stats
	fsys      aof.FS
	aof       *aofLog   // nil without appendonly
	starting  *logStart // while the data becomes a log
	lock      dirLock   // of the log's directory
	logged    bool      // what log there is in it was read or written by this run
	logSeq    int64     // of the last record of the log that was turned off
	works     works
	loading   *loading
	loaded    loadedStats
	started   int64
	runID     string
	cronAt    int64
	stop      func(error)  // ends Run
	listener  net.Listener // given by Listen instead of the port setting
	wake      func()       // interrupts the event loop's sleep
}

// New makes a node that does not listen yet. The configuration is the server's from here on.
func New(cfg *Config, log *slog.Logger) (*Server, error) {
	srv := &Server{
		cfg: cfg, log: log, clock: newClock(),
		store:    commands.NewStore(cfg.Databases, rand.Uint64()),
		sessions: map[int64]*session{}, pubsub: newPubSub(), tracked: newTrackingTable(), latency: latencyEvents{},
		stop: func(error) {}, wake: func() {}, fsys: aof.Disk{},
		overdue: math.MaxInt64,
		deadlines: btree.NewBTreeGOptions(func(x, y *waiter) bool {
			return x.until < y.until || x.until == y.until && x.seq < y.seq
		}, btree.Options{NoLocks: true}),
	}
	srv.table = Table()
	srv.stats.rows = make([]rowStats, len(srv.table.Every()))
	srv.call.Reply, srv.call.Table = new(commands.Reply), srv.table
	for range cfg.Databases {
		srv.watched = append(srv.watched, map[string][]*session{})
		srv.parked = append(srv.parked, map[string][]*waiter{})
	}
	srv.followLimits()
	srv.acl = newACL(srv.table, cfg)
	if err := srv.acl.loadConfig(); err != nil {
		return nil, err
	}
	cfg.OnSet("requirepass", func(c *Config) error {
		srv.acl.setDefaultPassword(c.RequirePass)
		return nil
	})
	cfg.OnSet("notify-keyspace-events", srv.listenForEvents)
	if err := srv.listenForEvents(cfg); err != nil {
		return nil, err
	}
	cfg.OnSet("pump", srv.followPump)
	cfg.OnSet("appendonly", srv.followAppendOnly)
	srv.now = srv.clock.milli()
	if err := srv.followPump(cfg); err != nil {
		return nil, err
	}
	srv.started, srv.runID = srv.now, newRunID()
	srv.works = works{build: srv.here, step: removeStep, rest: removeRest, saved: time.UnixMilli(srv.now), saveTook: -1, rewriteTook: -1}
	srv.table.Build = Build()
	srv.table.Build.Started = srv.started
	return srv, nil
}

// Listen makes the node serve plain TCP clients on ln instead of opening the port of its configuration. It is
// called before Run.
func (srv *Server) Listen(ln net.Listener) { srv.listener = ln }

// Run listens and serves until ctx is done, a client shuts the node down, or a listener fails. It returns nil
// after a clean stop.
func (srv *Server) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	srv.stop = cancel
	load, err := srv.prepare(ctx)
	if err != nil {
		return err
	}
	var loader sync.WaitGroup
	err = srv.serve(ctx, func() {
		if load != nil {
			loader.Go(load)
		}
	})
	cancel(nil)
	loader.Wait()
	srv.endWorks()
	if e := srv.saveAtEnd(); err == nil {
		err = e
	}
	if e := srv.closeLog(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) && !errors.Is(cause, errShutdown) {
		return cause
	}
	return nil
}

// errShutdown is the cause of a stop that a client asked for.
var errShutdown = errors.New("shutdown by a client")

// open registers a connection that was just accepted.
func (srv *Server) open(conn transport, addr, laddr string) *session {
	srv.nextID++
	s := &session{
		id: srv.nextID, srv: srv, conn: conn, fd: -1, addr: addr, laddr: laddr,
		created: srv.now, active: srv.now, proto: 2,
	}
	s.logOut()
	srv.sessions[s.id] = s
	s.place = len(srv.roster)
	srv.roster = append(srv.roster, s)
	srv.stats.connections++
	return s
}

// stamp reads the clock for the command that is about to run.
func (srv *Server) stamp() {
	srv.mono = srv.clock.quick()
	srv.now = srv.mono / 1e6
}

// cronInterval is how often tick does its periodic work.
const cronInterval = 100 // ms

// tick serves the timers: waiting clients whose time is up, expiry, reclaiming, clock. It returns the Unix ms
// at which it wants to be called again at the latest.
func (srv *Server) tick() int64 {
	srv.now = srv.clock.milli()
	srv.timeouts()
	srv.unpause()
	if srv.now >= srv.cronAt {
		srv.cron()
	}
	next := srv.cronAt
	if srv.pump.on {
		next = min(next, srv.runPump())
	}
	if at := srv.expire(); at != 0 && at < next {
		next = at
	}
	if more := srv.goOn(); srv.store.Reclaim(4096) || more {
		next = srv.now
	}
	srv.overdue = math.MaxInt64
	if w, ok := srv.deadlines.Min(); ok {
		next = min(next, w.lapsesAt())
		srv.overdue = w.overdueAt()
	}
	return next
}

// cron does the periodic work.
func (srv *Server) cron() {
	srv.cronAt = srv.now + cronInterval
	srv.clock.follow(time.Now())
	defer srv.timed("cron", srv.clock.nano())
	srv.stats.sample(srv.now)
	srv.sampleMemory()
	srv.followLimit()
	srv.evictClients()
	if srv.aof != nil {
		srv.aof.cron()
	}
	srv.worksCron()
	srv.checkClients()
}

// expire removes keys and fields whose time has come, a bounded number of each database, and returns the Unix ms at
// which the next one is due, 0 when there is none or nothing may expire now.
func (srv *Server) expire() int64 {
	if srv.pause.active(srv.now) || srv.noExpire || !srv.mayChange() {
		return 0
	}
	due := srv.store.NextExpiry()
	if due == 0 || due > srv.now {
		return due
	}
	start, more := srv.clock.nano(), false
	for i := range srv.store.Databases() {
		if srv.store.Expiring(i) == 0 && srv.store.ExpiringHashes(i) == 0 {
			continue
		}
		srv.call.Tx = srv.store.Begin(i, srv.now, false)
		more = srv.call.Tx.ExpireCycle(1000) || more
		more = srv.call.Tx.ExpireFields(1000) || more
		srv.settle()
	}
	srv.stats.expireCapped += int64(bit(more))
	took := srv.clock.nano() - start
	srv.stats.expireNanos += took
	srv.spike("expire-cycle", took)
	srv.serveReady()
	return srv.store.NextExpiry()
}

// checkClients ends sessions that were idle for too long or are over a soft output limit for too long. Who waits to
// be told something is not idle. It looks at a share of them, at each about once a second: ten thousand at once would hold
// up others for a millisecond.
func (srv *Server) checkClients() {
	for n := min(len(srv.roster), max(len(srv.roster)*cronInterval/1000+1, 32)); n > 0 && len(srv.roster) > 0; n-- {
		srv.checked = (srv.checked + 1) % len(srv.roster)
		s := srv.roster[srv.checked]
		if t := srv.cfg.Timeout; t > 0 && s.waiting == nil && !s.subscriber() && !s.monitor && srv.now-s.active > int64(t)*1000 {
			s.end()
			continue
		}
		s.checkOutput()
	}
}

// strike takes s off the roster.
func (srv *Server) strike(s *session) {
	last := srv.roster[len(srv.roster)-1]
	srv.roster[s.place], last.place = last, s.place
	srv.roster[len(srv.roster)-1] = nil
	srv.roster = srv.roster[:len(srv.roster)-1]
}

// families returns the rows that are declared in this package.
func families() [][]commands.Row {
	return [][]commands.Row{aofRows, persistenceRows, configRows, connectionRows, transactionRows, pubsubRows, clientRows, monitorRows, aclRows, serverRows, slowlogRows, latencyRows, memoryRows, debugRows}
}

// Table returns a new table of every command of a node.
func Table() *commands.Table { return commands.New(append(commands.All(), families()...)...) }

// install puts the fence value where there is none, with the setting of that name.
func (srv *Server) install() {
	if !srv.cfg.Install {
		return
	}
	srv.now = srv.clock.milli()
	tx := srv.store.Begin(0, srv.now, false)
	srv.call.Tx = tx
	key := []byte(fence.VersionKey)
	if !tx.Exists(key) {
		tx.SetValue(key, []byte(fence.Wire), 0)
		srv.log.Info("installed the fence", "value", fence.Wire)
	}
	srv.settle()
}
