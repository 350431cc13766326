package server

import (
	"fmt"

	"github.com/echomq/emqd/commands"
	"github.com/echomq/emqd/store/num"
)

// status is ok or err, as INFO says it.
func status(ok bool) string {
	if ok {
		return "ok"
	}
	return "err"
}

func bit(on bool) int {
	if on {
		return 1
	}
	return 0
}

// logBuffer returns the bytes of records that are not written yet.
func (srv *Server) logBuffer() int {
	if srv.aof == nil {
		return 0
	}
	return srv.aof.w.Buffered()
}

// workSeconds returns how long the work that runs has been running, -1 when it is not the one asked for.
func (srv *Server) workSeconds(asked bool) int64 {
	if !asked {
		return -1
	}
	return (srv.now - srv.works.now.began) / 1000
}

func infoPersistence(srv *Server, w *infoWriter) {
	w.field("loading", bit(srv.loading != nil))
	w.field("async_loading", 0)
	w.field("current_cow_peak", 0)
	w.field("current_cow_size", 0)
	w.field("current_cow_size_age", 0)
	works := &srv.works
	done, total := works.progress()
	w.field("current_fork_perc", fmt.Sprintf("%.2f", 100*float64(done)/float64(max(total, 1))))
	w.field("current_save_keys_processed", done)
	w.field("current_save_keys_total", total)
	saving, rewriting := works.now != nil && !works.now.rewrite, works.now != nil && works.now.rewrite
	w.field("rdb_changes_since_last_save", srv.changes())
	w.field("rdb_bgsave_in_progress", bit(saving))
	w.field("rdb_last_save_time", works.saved.Unix())
	w.field("rdb_last_bgsave_status", status(!works.saveBad))
	w.field("rdb_last_bgsave_time_sec", works.saveTook)
	w.field("rdb_current_bgsave_time_sec", srv.workSeconds(saving))
	w.field("rdb_saves", works.saves)
	w.field("rdb_last_cow_size", 0)
	w.field("rdb_last_load_keys_expired", srv.loaded.expired)
	w.field("rdb_last_load_keys_loaded", srv.loaded.keys)
	w.field("aof_enabled", bit(srv.cfg.AppendOnly))
	w.field("aof_rewrite_in_progress", bit(rewriting))
	w.field("aof_rewrite_scheduled", bit(works.rewriteDue))
	w.field("aof_last_rewrite_time_sec", works.rewriteTook)
	w.field("aof_current_rewrite_time_sec", srv.workSeconds(rewriting))
	w.field("aof_last_bgrewrite_status", status(!works.rewriteBad))
	w.field("aof_rewrites", works.rewrites)
	w.field("aof_rewrites_consecutive_failures", works.failures)
	l := srv.aof
	w.field("aof_last_write_status", status(l == nil || l.broken == nil && !l.tight))
	w.field("aof_last_cow_size", 0)
	w.field("module_fork_in_progress", 0)
	w.field("module_fork_last_cow_size", 0)
	if l != nil {
		l.info(w)
	}
	w.field("node_epoch", srv.store.Epoch)
	if p := srv.loading; p != nil {
		w.field("loading_start_time", p.began/1000)
		w.field("loading_total_bytes", p.total)
		w.field("loading_rdb_used_mem", 0)
		w.field("loading_loaded_bytes", p.done)
		w.field("loading_loaded_perc", fmt.Sprintf("%.2f", p.percent()))
		w.field("loading_eta_seconds", p.left(srv.now))
	}
}

// info tells of the log: Valkey's fields, then our own.
func (l *aofLog) info(w *infoWriter) {
	written, synced := l.w.Written(), l.w.Synced()
	w.field("aof_current_size", l.bytes())
	w.field("aof_base_size", l.stats.base)
	w.field("aof_pending_rewrite", 0)
	w.field("aof_buffer_length", l.w.Buffered())
	w.field("aof_pending_bio_fsync", bit(l.syncing))
	w.field("aof_delayed_fsync", l.stats.delayed)
	health := "well"
	switch {
	case l.broken != nil:
		health = "broken"
	case l.tight:
		health = "full"
	}
	w.field("log_health", health)
	w.field("log_last_seq", l.w.Seq())
	w.field("log_synced_seq", synced.Seq)
	w.field("log_unsynced_bytes", written.Pos-synced.Pos+int64(l.w.Buffered()))
	w.field("log_syncs", l.stats.syncs.count)
	w.field("log_sync_usec_p50", l.stats.syncs.percentile(50)/1000)
	w.field("log_sync_usec_p99", l.stats.syncs.percentile(99)/1000)
	w.field("log_records_recovered", l.stats.records)
	w.field("log_bytes_discarded", l.stats.discarded)
	w.field("log_checksum_errors", l.stats.checksums)
	w.field("log_renewals", l.stats.renewals)
}

var aofRows = []commands.Row{{
	Name: "waitaof", Tips: []string{"request_policy:all_shards", "response_policy:agg_min"}, Family: "connection", Arity: 4, Do: cmdWaitAOF, Flags: commands.Blocking, Syntax: "numlocal:integer numreplicas:integer timeout:integer",
	Summary: "Waits until what this client wrote is synced to the log here and on replicas.", Complexity: "O(1)", Since: "7.2.0",
}}

// cmdWaitAOF handles WAITAOF numlocal numreplicas timeout. Whatever appendfsync says, the log is synced before the
// reply is sent.
//
// Reply:   how many logs hold the writes: this node's (0 or 1), and replicas'
// Errors:  numbers out of range; numlocal without a log
// Effects: none
func cmdWaitAOF(c *commands.Call) error {
	srv := c.Peer.(*session).srv
	local, ok := num.Int(c.Args[1])
	if !ok {
		return commands.ErrNotInteger
	}
	if local < 0 || local > 1 {
		return commands.Error("ERR value is out of range, value must between 0 and 1")
	}
	replicas, ok := num.Int(c.Args[2])
	if !ok || replicas < 0 {
		return commands.ErrPositive
	}
	until, err := c.DeadlineMillis(c.Args[3])
	if err != nil {
		return err
	}
	if local > 0 && srv.aof == nil {
		return commands.Error("ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.")
	}
	if replicas > 0 && c.MayBlock {
		return c.Wait(until)
	}
	synced := srv.aof != nil && srv.aof.broken == nil
	if synced {
		srv.aof.force(c.Peer.(*session))
	}
	c.Reply.Array(2)
	c.Reply.Flag(synced)
	c.Reply.Int(0)
	return nil
}

// force makes the next commit sync; when it fails s does not get its reply.
func (l *aofLog) force(s *session) {
	l.forced = true
	if !s.unlogged {
		s.unlogged = true
		l.authors = append(l.authors, s)
	}
}
