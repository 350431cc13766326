package server

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"

	"github.com/echomq/emqd/commands"
	"github.com/echomq/emqd/fence"
	"github.com/echomq/emqd/store/num"
)

// infoSection is one part of INFO.
type infoSection struct {
	name  string
	write func(*Server, *infoWriter)
	extra bool // only in "all" and "everything", or by its name
}

var infoSections = []infoSection{
	{"Server", infoServer, false},
	{"Clients", infoClients, false},
	{"Memory", infoMemory, false},
	{"Persistence", infoPersistence, false},
	{"Stats", infoStats, false},
	{"Replication", infoReplication, false},
	{"CPU", infoCPU, false},
	{"Modules", func(*Server, *infoWriter) {}, false},
	{"Commandstats", infoCommandStats, true},
	{"Errorstats", infoErrorStats, false},
	{"Latencystats", infoLatencyStats, true},
	{"Cluster", func(_ *Server, w *infoWriter) { w.field("cluster_enabled", 0) }, false},
	{"Keyspace", infoKeyspace, false},
	{"EMQ", infoEMQ, false},
}

// infoWriter builds the text of INFO.
type infoWriter struct{ strings.Builder }

func (w *infoWriter) field(name string, value any) { fmt.Fprintf(w, "%s:%v\r\n", name, value) }

// info returns the sections asked for; without words, the default ones.
func (srv *Server) info(words [][]byte) string {
	asked := func(s infoSection) bool {
		if len(words) == 0 {
			return !s.extra
		}
		for _, word := range words {
			if commands.Is(word, strings.ToLower(s.name)) || commands.Is(word, "all") || commands.Is(word, "everything") ||
				commands.Is(word, "default") && !s.extra {
				return true
			}
		}
		return false
	}
	var w infoWriter
	for _, s := range infoSections {
		if !asked(s) {
			continue
		}
		if w.Len() > 0 {
			w.WriteString("\r\n")
		}
		w.WriteString("# " + s.name + "\r\n")
		s.write(srv, &w)
	}
	return w.String()
}

func infoServer(srv *Server, w *infoWriter) {
	build := Build()
	up := (srv.now - srv.started) / 1000
	exe, err := os.Executable()
	if err != nil {
		exe = ""
	}
	w.field("redis_version", compatVersion)
	w.field("server_name", "emqd")
	w.field("valkey_version", compatValkey)
	w.field("emqd_version", build.Version)
	w.field("emqd_commit", build.Commit)
	w.field("redis_mode", "standalone")
	w.field("os", runtime.GOOS+" "+runtime.GOARCH)
	w.field("arch_bits", 64)
	w.field("go_version", runtime.Version())
	w.field("multiplexing_api", multiplexing)
	w.field("process_id", os.Getpid())
	w.field("run_id", srv.runID)
	w.field("tcp_port", srv.cfg.Port)
	w.field("server_time_usec", srv.clock.nano()/1000)
	w.field("uptime_in_seconds", up)
	w.field("uptime_in_days", up/86400)
	w.field("hz", 1000/cronInterval)
	w.field("configured_hz", srv.cfg.Hz)
	w.field("executable", exe)
	w.field("config_file", srv.cfg.File())
	w.field("io_threads_active", 0)
}

func infoClients(srv *Server, w *infoWriter) {
	maxIn, maxOut, pubsubClients, watching := 0, 0, 0, 0
	for _, s := range srv.sessions {
		maxIn, maxOut = max(maxIn, len(s.in)), max(maxOut, len(s.out))
		if s.subscriber() {
			pubsubClients++
		}
		if len(s.watches) > 0 {
			watching++
		}
	}
	w.field("connected_clients", len(srv.sessions))
	w.field("cluster_connections", 0)
	w.field("maxclients", srv.cfg.MaxClients)
	w.field("client_recent_max_input_buffer", maxIn)
	w.field("client_recent_max_output_buffer", maxOut)
	w.field("blocked_clients", srv.stats.blocked)
	w.field("tracking_clients", srv.trackers)
	w.field("pubsub_clients", pubsubClients)
	w.field("watching_clients", watching)
	waiting := 0
	for _, byKey := range srv.parked {
		waiting += len(byKey)
	}
	w.field("total_blocking_keys", waiting)
	w.field("clients_in_timeout_table", srv.deadlines.Len())
}

// baseMemory is what an idle node takes: its tables, its buffers, the runtime.
const baseMemory = 1 << 20

// usedMemory returns the bytes that the node, its keyspace and its clients take, and remembers the most.
func (srv *Server) usedMemory() (total, clients int64) {
	for _, s := range srv.sessions {
		clients += s.memory()
	}
	total = baseMemory + srv.store.Memory() + clients
	srv.stats.peak = max(srv.stats.peak, total)
	return total, clients
}

func infoMemory(srv *Server, w *infoWriter) {
	used, clients := srv.usedMemory()
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/total:bytes"}}
	metrics.Read(heap)
	rss := residentMemory()
	data := srv.store.Memory()
	w.field("used_memory", used)
	w.field("used_memory_human", human(used))
	w.field("used_memory_rss", rss)
	w.field("used_memory_rss_human", human(rss))
	w.field("used_memory_peak", srv.stats.peak)
	w.field("used_memory_peak_human", human(srv.stats.peak))
	w.field("used_memory_overhead", clients)
	w.field("used_memory_dataset", data)
	w.field("used_memory_dataset_perc", fmt.Sprintf("%.2f%%", percent(data, used)))
	w.field("allocator_allocated", data)
	w.field("allocator_active", srv.store.Mapped())
	w.field("go_heap_objects", heap[0].Value.Uint64())
	w.field("go_total", heap[1].Value.Uint64())
	w.field("total_system_memory", systemMemory())
	w.field("maxmemory", srv.cfg.MaxMemory)
	w.field("maxmemory_human", human(srv.cfg.MaxMemory))
	w.field("maxmemory_policy", srv.cfg.MaxMemoryPolicy)
	w.field("mem_fragmentation_ratio", fmt.Sprintf("%.2f", float64(rss)/math.Max(float64(used), 1)))
	w.field("mem_clients_normal", clients)
	w.field("mem_aof_buffer", srv.logBuffer())
	w.field("mem_allocator", "arena")
	w.field("lazyfree_pending_objects", srv.store.Pending())
}

func percent(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return 100 * float64(part) / float64(whole)
}

// human spells a byte count as INFO does: 1.50M.
func human(n int64) string {
	f := float64(n)
	for _, u := range []string{"B", "K", "M", "G", "T"} {
		if f < 1024 || u == "T" {
			if u == "B" {
				return fmt.Sprintf("%dB", n)
			}
			return fmt.Sprintf("%.2f%s", f, u)
		}
		f /= 1024
	}
	return ""
}

func infoStats(srv *Server, w *infoWriter) {
	st, ks := &srv.stats, &srv.store.Stats
	w.field("total_connections_received", st.connections)
	w.field("total_commands_processed", st.commands)
	w.field("instantaneous_ops_per_sec", st.opsPerSecond())
	w.field("total_net_input_bytes", st.netIn)
	w.field("total_net_output_bytes", st.netOut)
	w.field("rejected_connections", st.rejected)
	w.field("sync_full", 0)
	w.field("expired_keys", ks.Expired)
	w.field("expired_fields", ks.ExpiredFields)
	w.field("evicted_keys", 0)
	w.field("evicted_clients", 0)
	w.field("keyspace_hits", ks.Hits)
	w.field("keyspace_misses", ks.Misses)
	w.field("pubsub_channels", len(srv.pubsub.subs[byChannel]))
	w.field("pubsub_patterns", len(srv.pubsub.patterns))
	w.field("pubsubshard_channels", len(srv.pubsub.subs[byShard]))
	w.field("latest_fork_usec", 0)
	w.field("total_error_replies", st.errorReplies())
	w.field("tracking_total_keys", len(srv.tracked.readers))
	w.field("tracking_total_prefixes", len(srv.tracked.prefixes))
	w.field("unexpected_error_replies", 0)
	w.field("clients_paused", srv.pause.active(srv.now))
	denied := &srv.acl.log.denied
	w.field("acl_access_denied_auth", denied[aclDeniedAuth])
	w.field("acl_access_denied_cmd", denied[aclDeniedCommand])
	w.field("acl_access_denied_key", denied[aclDeniedKey])
	w.field("acl_access_denied_channel", denied[aclDeniedChannel])
}

func infoReplication(srv *Server, w *infoWriter) {
	w.field("role", "master")
	w.field("connected_slaves", 0)
	w.field("master_failover_state", "no-failover")
	w.field("master_replid", srv.runID)
	w.field("master_replid2", strings.Repeat("0", 40))
	w.field("master_repl_offset", 0)
	w.field("second_repl_offset", -1)
	w.field("repl_backlog_active", 0)
}

func infoCPU(_ *Server, w *infoWriter) {
	sys, user := cpuTimes()
	w.field("used_cpu_sys", fmt.Sprintf("%.6f", sys))
	w.field("used_cpu_user", fmt.Sprintf("%.6f", user))
}

// eachCalled calls f for every row that has statistics, in the order of names.
func (srv *Server) eachCalled(f func(*commands.Row, *rowStats)) {
	rows := slices.Clone(srv.table.Every())
	slices.SortFunc(rows, func(a, b *commands.Row) int { return strings.Compare(a.FullName(), b.FullName()) })
	for _, row := range rows {
		if st := &srv.stats.rows[row.ID()]; st.calls > 0 || st.rejected > 0 {
			f(row, st)
		}
	}
}

func infoCommandStats(srv *Server, w *infoWriter) {
	srv.eachCalled(func(row *commands.Row, st *rowStats) {
		per := 0.0
		if st.calls > 0 {
			per = float64(st.nanos) / 1000 / float64(st.calls)
		}
		fmt.Fprintf(w, "cmdstat_%s:calls=%d,usec=%d,usec_per_call=%.2f,rejected_calls=%d,failed_calls=%d\r\n",
			row.FullName(), st.calls, st.nanos/1000, per, st.rejected, st.failed)
	})
}

func infoErrorStats(srv *Server, w *infoWriter) {
	names := make([]string, 0, len(srv.stats.errors))
	for name := range srv.stats.errors {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(w, "errorstat_%s:count=%d\r\n", name, srv.stats.errors[name])
	}
}

func infoLatencyStats(srv *Server, w *infoWriter) {
	srv.eachCalled(func(row *commands.Row, st *rowStats) {
		if st.hist == nil {
			return
		}
		var parts []string
		for _, p := range srv.cfg.LatencyPercentiles {
			parts = append(parts, fmt.Sprintf("p%s=%.3f", num.AppendFloat(nil, p), float64(st.hist.percentile(p))/1000))
		}
		w.field("latency_percentiles_usec_"+row.FullName(), strings.Join(parts, ","))
	})
}

func infoKeyspace(srv *Server, w *infoWriter) {
	for i := range srv.store.Databases() {
		if n := srv.store.Len(i); n > 0 {
			fmt.Fprintf(w, "db%d:keys=%d,expires=%d,avg_ttl=0\r\n", i, n, srv.store.Expiring(i))
		}
	}
}

func infoEMQ(srv *Server, w *infoWriter) {
	w.field("emq_wire", fence.Wire)
	w.field("emq_epoch", srv.store.Epoch)
	w.field("orphans_dropped", srv.store.Stats.OrphansDropped)
	srv.pump.info(srv, w)
	for _, row := range srv.table.Rows() {
		if len(row.Tokens) == 0 {
			continue
		}
		if st := &srv.stats.rows[row.ID()]; st.calls > 0 {
			w.field("emq_calls_"+strings.TrimPrefix(row.Name, "emq."), st.calls)
			w.field("emq_refused_"+strings.TrimPrefix(row.Name, "emq."), st.failed)
		}
	}
}
