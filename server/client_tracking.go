package server

import (
	"maps"
	"slices"
	"strings"

	"github.com/echomq/emqd/commands"
	"github.com/echomq/emqd/store/num"
)

// tracking is a client's server-assisted cache: which keys it is told about when they change.
type tracking struct {
	redirect int64 // the client that gets the messages instead, 0 for itself
	broken   bool  // that client has gone
	bcast    bool
	optIn    bool
	optOut   bool
	noLoop   bool
	prefixes []string
	bytes    int64 // that prefixes take
	caching  int   // CLIENT CACHING's word for the next command: 1 yes, -1 no, 0 none
}

// trackingTable remembers which clients have read which keys, and who wants the keys of which prefix.
type trackingTable struct {
	readers  map[string]map[*session]struct{}
	prefixes map[string]map[*session]struct{}
	items    int      // readers of all keys
	bytes    int64    // that readers takes
	told     int      // effects of the present transaction that were told already
	early    []string // keys of these
	stale    []string // keys changed by the present transaction
	all      bool     // a whole database was emptied by it
	writer   *session
}

func newTrackingTable() trackingTable {
	return trackingTable{readers: map[string]map[*session]struct{}{}, prefixes: map[string]map[*session]struct{}{}}
}

// spent ends CLIENT CACHING's word after the command that it was for, which ran or was refused; row is nil for an unknown
// one. Commands about the client itself leave it, and a transaction has it from MULTI to EXEC.
func (s *session) spent(row *commands.Row) {
	if s.tracking != nil && s.tx == nil && !s.inExec && (row == nil || !row.Has(commands.KeepsCaching)) {
		s.tracking.caching = 0
	}
}

func (t *trackingTable) empty() bool { return len(t.readers) == 0 && len(t.prefixes) == 0 }

// remember notes the keys that a read-only command of a tracking client has read.
func (srv *Server) remember(s *session, row *commands.Row, args [][]byte) {
	t := s.tracking
	if t == nil || t.bcast || !row.Has(commands.ReadOnly) || t.optIn && t.caching != 1 || t.optOut && t.caching == -1 {
		return
	}
	if s.inExec {
		srv.tellSoFar(s)
	}
	srv.keysAt = row.AppendKeys(srv.keysAt[:0], args)
	for _, k := range srv.keysAt {
		key := string(args[k.Pos])
		list := srv.tracked.readers[key]
		if list == nil {
			srv.makeRoom()
			list = map[*session]struct{}{}
			srv.tracked.readers[key] = list
		}
		if _, ok := list[s]; !ok {
			list[s] = struct{}{}
			srv.tracked.items++
			srv.tracked.bytes += readersBytes(key, len(list)) - readersBytes(key, len(list)-1)
		}
	}
}

// readersBytes returns what the table takes for a key with n readers.
func readersBytes(key string, n int) int64 {
	if n == 0 {
		return 0
	}
	return trackedKeyBytes + int64(len(key)) + int64(n-1)*trackedItemBytes
}

// forgetReaders empties the table.
func (t *trackingTable) forgetReaders() {
	clear(t.readers)
	t.items, t.bytes = 0, 0
}

// makeRoom keeps the table below tracking-table-max-keys by telling the readers of some key that it changed.
func (srv *Server) makeRoom() {
	limit := srv.cfg.TrackingTableMaxKeys
	if limit <= 0 {
		return
	}
	for key := range srv.tracked.readers {
		if int64(len(srv.tracked.readers)) < limit {
			return
		}
		srv.invalidate(key, nil)
	}
}

// noteChange notes a key that the present transaction of writer changed.
func (t *trackingTable) noteChange(key []byte, writer *session) {
	if !t.empty() {
		t.stale = append(t.stale, string(key))
		t.writer = writer
	}
}

// noteFlush notes that a whole database has changed.
func (t *trackingTable) noteFlush(writer *session) { t.all, t.writer = true, writer }

// tellTracking sends the invalidations of the transaction that was just settled.
func (srv *Server) tellTracking() {
	t := &srv.tracked
	if t.all {
		srv.invalidateAll()
	}
	for _, key := range t.stale {
		srv.invalidate(key, t.writer)
	}
	t.stale = append(t.stale, t.early...)
	srv.broadcast()
	t.stale, t.early, t.all, t.writer = t.stale[:0], t.early[:0], false, nil
}

// broadcast tells the clients that want every key of a prefix: one message for each prefix, both in the order of their
// texts.
func (srv *Server) broadcast() {
	t := &srv.tracked
	if len(t.prefixes) == 0 || len(t.stale) == 0 {
		return
	}
	slices.Sort(t.stale)
	stale := slices.Compact(t.stale)
	for _, prefix := range slices.Sorted(maps.Keys(t.prefixes)) {
		from, _ := slices.BinarySearch(stale, prefix)
		to := from
		for to < len(stale) && strings.HasPrefix(stale[to], prefix) {
			to++
		}
		if from == to {
			continue
		}
		for s := range t.prefixes[prefix] {
			if s != t.writer || !s.tracking.noLoop {
				srv.sendInvalid(s, stale[from:to])
			}
		}
	}
}

// invalidate tells the clients that have read key that it changed, and forgets them.
func (srv *Server) invalidate(key string, writer *session) {
	list, ok := srv.tracked.readers[key]
	if !ok {
		return
	}
	delete(srv.tracked.readers, key)
	srv.tracked.items -= len(list)
	srv.tracked.bytes -= readersBytes(key, len(list))
	for s := range list {
		if s.tracking == nil || s.tracking.bcast || s == writer && s.tracking.noLoop {
			continue
		}
		srv.sendInvalid(s, []string{key})
	}
}

// invalidateAll tells every tracking client that it knows nothing any more.
func (srv *Server) invalidateAll() {
	srv.tracked.forgetReaders()
	for _, s := range srv.sorted() {
		if s.tracking != nil {
			srv.sendInvalid(s, nil)
		}
	}
}

// sendInvalid sends the names of changed keys to s or to whom it redirects; nil keys means all.
func (srv *Server) sendInvalid(s *session, keys []string) {
	to, id := s, s.tracking.redirect
	if id != 0 {
		to = srv.sessions[id]
		if to == nil || to.closing {
			srv.breakRedirect(s)
			return
		}
	}
	var r commands.Reply
	r.Reset(nil, to.proto)
	switch {
	case to.proto == 3:
		r.Push(2)
		r.Text("invalidate")
	case id != 0 && to.subscriber():
		r.Push(3)
		r.Text("message")
		r.Text(invalidationChannel)
	default:
		return
	}
	if keys == nil {
		r.Null()
	} else {
		r.Array(len(keys))
		for _, key := range keys {
			r.Text(key)
		}
	}
	to.push(r.Bytes())
}

// invalidationChannel is where a RESP2 connection gets the invalidations redirected to it.
const invalidationChannel = "__redis__:invalidate"

// breakRedirect tells a client that the one it redirects to has gone, each time that it would have been told something.
func (srv *Server) breakRedirect(s *session) {
	s.tracking.broken = true
	if s.proto == 3 {
		var r commands.Reply
		r.Reset(nil, 3)
		r.Push(2)
		r.Text("tracking-redir-broken")
		r.Int(s.tracking.redirect)
		s.push(r.Bytes())
	}
}

// untrack ends a session's tracking. What the table has of it under single keys goes as those keys change.
func (srv *Server) untrack(s *session) {
	if s.tracking == nil {
		return
	}
	for _, prefix := range s.tracking.prefixes {
		delete(srv.tracked.prefixes[prefix], s)
		if len(srv.tracked.prefixes[prefix]) == 0 {
			delete(srv.tracked.prefixes, prefix)
		}
	}
	s.tracking = nil
	srv.trackers--
	if srv.trackers == 0 {
		srv.tracked.forgetReaders()
	}
}

// cmdClientTracking handles CLIENT TRACKING ON|OFF [REDIRECT id] [PREFIX prefix ...] [BCAST] [OPTIN] [OPTOUT] [NOLOOP].
//
// Reply:   OK
// Errors:  syntax, options that do not go together, a prefix that overlaps another
// Effects: none
func cmdClientTracking(c *commands.Call) error {
	s := c.Peer.(*session)
	srv := s.srv
	t, err := parseTracking(s, c.Args[3:])
	if err != nil {
		return err
	}
	switch {
	case commands.Is(c.Args[2], "on"):
		if err := t.check(s); err != nil {
			return err
		}
		old := s.tracking
		if old == nil {
			srv.trackers++
		} else if t.bcast {
			t.prefixes = append(slices.Clone(old.prefixes), t.prefixes...)
		}
		if t.bcast && len(t.prefixes) == 0 {
			t.prefixes = []string{""}
		}
		s.tracking = t
		for _, prefix := range t.prefixes {
			if srv.tracked.prefixes[prefix] == nil {
				srv.tracked.prefixes[prefix] = map[*session]struct{}{}
			}
			srv.tracked.prefixes[prefix][s] = struct{}{}
			t.bytes += prefixBytes + int64(len(prefix))
		}
	case commands.Is(c.Args[2], "off"):
		srv.untrack(s)
	default:
		return commands.ErrSyntax
	}
	c.Reply.OK()
	return nil
}

// parseTracking reads the options of CLIENT TRACKING.
func parseTracking(s *session, args [][]byte) (*tracking, error) {
	t := &tracking{}
	for i := 0; i < len(args); i++ {
		more := i+1 < len(args)
		switch arg := args[i]; {
		case commands.Is(arg, "redirect") && more:
			i++
			id, ok := num.Int(args[i])
			if !ok {
				return nil, commands.ErrNotInteger
			}
			if t.redirect != 0 {
				return nil, commands.Error("ERR A client can only redirect to a single other client")
			}
			if s.srv.sessions[id] == nil {
				return nil, commands.Error("ERR The client ID you want redirect to does not exist")
			}
			t.redirect = id
		case commands.Is(arg, "prefix") && more:
			i++
			t.prefixes = append(t.prefixes, string(args[i]))
		case commands.Is(arg, "bcast"):
			t.bcast = true
		case commands.Is(arg, "optin"):
			t.optIn = true
		case commands.Is(arg, "optout"):
			t.optOut = true
		case commands.Is(arg, "noloop"):
			t.noLoop = true
		default:
			return nil, commands.ErrSyntax
		}
	}
	return t, nil
}

// check refuses options that do not go together or do not fit what the session has on.
func (t *tracking) check(s *session) error {
	old := s.tracking
	switch {
	case len(t.prefixes) > 0 && !t.bcast:
		return commands.Error("ERR PREFIX option requires BCAST mode to be enabled")
	case old != nil && old.bcast != t.bcast:
		return commands.Error("ERR You can't switch BCAST mode on/off before disabling tracking for this client, and then re-enabling it with a different mode.")
	case t.bcast && (t.optIn || t.optOut):
		return commands.Error("ERR OPTIN and OPTOUT are not compatible with BCAST")
	case t.optIn && t.optOut:
		return commands.Error("ERR You can't specify both OPTIN mode and OPTOUT mode")
	case old != nil && (t.optIn && old.optOut || t.optOut && old.optIn):
		return commands.Error("ERR You can't switch OPTIN/OPTOUT mode before disabling tracking for this client, and then re-enabling it with a different mode.")
	}
	var have []string
	if old != nil {
		have = old.prefixes
	}
	for i, p := range t.prefixes {
		for _, q := range have {
			if overlaps(p, q) {
				return commands.Error("ERR Prefix '" + commands.EchoLong([]byte(p)) + "' overlaps with an existing prefix '" +
					commands.EchoLong([]byte(q)) + "'. Prefixes for a single client must not overlap.")
			}
		}
		for _, q := range t.prefixes[i+1:] {
			if overlaps(p, q) {
				return commands.Error("ERR Prefix '" + commands.EchoLong([]byte(p)) + "' overlaps with another provided prefix '" +
					commands.EchoLong([]byte(q)) + "'. Prefixes for a single client must not overlap.")
			}
		}
	}
	return nil
}

func overlaps(p, q string) bool { return strings.HasPrefix(p, q) || strings.HasPrefix(q, p) }

// cmdClientCaching handles CLIENT CACHING YES|NO.
//
// Reply:   OK
// Errors:  without tracking in the mode that the word belongs to
// Effects: none
func cmdClientCaching(c *commands.Call) error {
	t := c.Peer.(*session).tracking
	if t == nil {
		return commands.Error("ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or OPTOUT mode enabled")
	}
	switch {
	case commands.Is(c.Args[2], "yes"):
		if !t.optIn {
			return commands.Error("ERR CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode.")
		}
		t.caching = 1
	case commands.Is(c.Args[2], "no"):
		if !t.optOut {
			return commands.Error("ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode.")
		}
		t.caching = -1
	default:
		return commands.ErrSyntax
	}
	c.Reply.OK()
	return nil
}

// cmdClientGetRedir handles CLIENT GETREDIR.
//
// Reply:   the client that invalidations are redirected to, 0 for none, -1 without tracking
// Effects: none
func cmdClientGetRedir(c *commands.Call) error {
	t := c.Peer.(*session).tracking
	if t == nil {
		c.Reply.Int(-1)
		return nil
	}
	c.Reply.Int(t.redirect)
	return nil
}

// cmdClientTrackingInfo handles CLIENT TRACKINGINFO.
//
// Reply:   map of flags (a set), redirect and prefixes
// Effects: none
func cmdClientTrackingInfo(c *commands.Call) error {
	t := c.Peer.(*session).tracking
	flags, redirect, prefixes := []string{"off"}, int64(-1), []string(nil)
	if t != nil {
		flags, redirect, prefixes = []string{"on"}, t.redirect, slices.Sorted(slices.Values(t.prefixes))
		for _, f := range []struct {
			word string
			on   bool
		}{
			{"bcast", t.bcast}, {"optin", t.optIn}, {"caching-yes", t.optIn && t.caching == 1},
			{"optout", t.optOut}, {"caching-no", t.optOut && t.caching == -1},
			{"noloop", t.noLoop}, {"broken_redirect", t.broken},
		} {
			if f.on {
				flags = append(flags, f.word)
			}
		}
	}
	r := c.Reply
	r.Map(3)
	r.Text("flags")
	r.Set(len(flags))
	for _, f := range flags {
		r.Text(f)
	}
	r.Text("redirect")
	r.Int(redirect)
	r.Text("prefixes")
	r.Array(len(prefixes))
	for _, p := range prefixes {
		r.Text(p)
	}
	return nil
}
