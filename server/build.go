package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"time"

	"github.com/echomq/emqd/store"
	"github.com/echomq/emqd/store/aof"
)

// buildOrder says what an RDB file is made of: files of a log that do not change any more.
type buildOrder struct {
	Dir       string // of the log
	Prefix    string
	Manifest  string // its text
	End       int64  // where the last file is taken to end, 0 for its end
	Databases int
	Base      bool // it becomes a base of a log
	Plain     bool // strings are not compressed
	Hurry     bool // it has had no processor for too long

	pace    *pace                    // of a child, nil for none
	told    func(keys int64)         // when set, is told how many keys are written, a hundred times or less
	started func(took time.Duration) // when set, is told of each child process and how long it took to start it
}

// forked counts a child process that was started.
func (srv *Server) forked(took time.Duration) {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	srv.stats.forks++
	srv.stats.forkMicros = took.Microseconds()
}

// built is what is known of an RDB file that was made.
type built struct {
	Keys, Bytes int64
	Error       string `json:",omitempty"`
	More        bool   `json:",omitempty"` // it is not done: Keys are written so far
}

// build makes the RDB file out.
func (o *buildOrder) build(ctx context.Context, fsys aof.FS, out aof.File) (built, error) {
	files, err := o.files(fsys)
	if err != nil {
		return built{}, err
	}
	return o.write(ctx, files, out)
}

// files opens the files that the order names.
func (o *buildOrder) files(fsys aof.FS) (*aof.Log, error) {
	m, err := aof.ParseManifest([]byte(o.Manifest))
	if err != nil {
		return nil, err
	}
	return aof.Part(fsys, o.Dir, o.Prefix, *m, o.End)
}

// write makes the RDB file out of what files hold.
func (o *buildOrder) write(ctx context.Context, files *aof.Log, out aof.File) (built, error) {
	s, err := o.read(ctx, files)
	if err != nil {
		return built{}, err
	}
	state := files.State()
	if t := state.Tail; t != nil {
		return built{}, fmt.Errorf("%s ends with %s at byte %d", t.File, t.Why, t.Offset)
	}
	s.Epoch = state.Epoch
	w := &pacedWriter{f: out, gently: true}
	n := &snapshot{store: s, now: newClock().milli(), seq: state.Next - 1, base: o.Base, plain: o.Plain}
	n.pause = o.pause(n, s.Keys()/100)
	if err := n.write(w); err != nil {
		return built{}, err
	}
	if err := w.close(); err != nil {
		return built{}, err
	}
	return built{Keys: n.keys, Bytes: w.at}, ctx.Err()
}

// pause returns what keeps the pace between the parts of n, and tells how far it is after every so many keys.
func (o *buildOrder) pause(n *snapshot, every int64) func() {
	last := int64(0)
	return func() {
		o.pace.step()
		if o.told != nil && n.keys-last > every {
			last = n.keys
			o.told(last)
		}
	}
}

// read fills a new store with what files hold.
func (o *buildOrder) read(ctx context.Context, files *aof.Log) (*store.Store, error) {
	srv := &Server{store: store.New(o.Databases, rand.Uint64()), table: Table(), clock: newClock()}
	if err := files.Replay(&replayer{srv: srv, ctx: ctx, now: srv.clock.milli(), pace: o.pace}); err != nil {
		return nil, err
	}
	for srv.store.Reclaim(1 << 16) { // a table that is being resized would be met twice by a scan
	}
	return srv.store, nil
}

// BuildFromOrder is the part of a node's child process: it reads an order from in, makes the RDB file out, and tells the
// outcome on result. When in ends before it is done, the node is gone, and so is the child.
func BuildFromOrder(in io.Reader, out *os.File, result io.Writer) error {
	var o buildOrder
	decoder := json.NewDecoder(in)
	if err := decoder.Decode(&o); err != nil {
		return err
	}
	lowerPriority(o.Hurry)
	if !o.Hurry {
		o.pace = &pace{nap: time.Sleep}
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		_, _ = in.Read(make([]byte, 1)) // ends with the node
		cancel()
	}()
	answer := json.NewEncoder(result)
	o.told = func(keys int64) {
		if answer.Encode(built{Keys: keys, More: true}) != nil {
			cancel() // nobody waits for it any more
		}
	}
	b, err := o.build(ctx, aof.Disk{}, aof.OSFile(out))
	if err != nil {
		b.Error = err.Error()
	}
	return answer.Encode(b)
}

// pacedWriter appends to a file and sends it to the disk part by part, so that a sync of the log never waits for a
// large part of it.
type pacedWriter struct {
	f      aof.File
	gently bool // rests between the parts
	buf    []byte
	at     int64
	sent   int64 // up to there
}

const (
	pacedWrite = 256 << 10
	pacedPart  = 512 << 10
	// After a part the disk is left alone for this many times as long as the part took.
	pacedRest    = 3
	longestRest  = 30 * time.Millisecond
	shortestRest = 2 * time.Millisecond
)

func (w *pacedWriter) Write(b []byte) (int, error) {
	w.buf = append(w.buf, b...)
	if len(w.buf) >= pacedWrite {
		return len(b), w.flush()
	}
	return len(b), nil
}

func (w *pacedWriter) flush() error {
	n, err := w.f.WriteAt(w.buf, w.at)
	w.at += int64(n)
	w.buf = w.buf[:0]
	if err != nil || w.at-w.sent < pacedPart {
		return err
	}
	began := time.Now()
	if err := sendOut(w.f, w.sent, w.at-w.sent); err != nil {
		return err
	}
	w.sent = w.at
	if w.gently {
		time.Sleep(min(max(pacedRest*time.Since(began), shortestRest), longestRest))
	}
	return nil
}

// close makes everything durable. The file stays open.
func (w *pacedWriter) close() error {
	if err := w.flush(); err != nil {
		return err
	}
	return w.f.Sync()
}

// builder makes an RDB file as an order says, and returns when it is durable.
type builder func(ctx context.Context, o *buildOrder, out aof.File) (built, error)

// here is the builder that works in the node's own process.
func (srv *Server) here(ctx context.Context, o *buildOrder, out aof.File) (built, error) {
	return o.build(ctx, srv.fsys, out)
}

// BuildIn makes the node start the command line, which calls BuildFromOrder with its standard input, its descriptor 3
// and its standard output, to make RDB files from its log: memory and time of that work are not the node's then. It is
// called before Run.
func (srv *Server) BuildIn(command ...string) {
	srv.works.build = func(ctx context.Context, o *buildOrder, out aof.File) (built, error) {
		f, ok := aof.Descriptor(out)
		if !ok {
			return built{}, errors.New("the file is not the system's")
		}
		o.started = srv.forked
		return buildInChild(ctx, command, o, f, politeFor)
	}
}
