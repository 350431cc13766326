package server

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
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

// fields writes several fields of the same value.
func (w *infoWriter) fields(value any, names ...string) {
	for _, name := range names {
		w.field(name, value)
	}
}

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
	w.field("arch_bits", strconv.IntSize)
	w.field("go_version", runtime.Version())
	w.field("multiplexing_api", multiplexing)
	w.field("process_id", os.Getpid())
	w.field("process_supervised", "no")
	w.field("run_id", srv.runID)
	w.field("tcp_port", srv.cfg.Port)
	w.field("server_time_usec", srv.clock.nano()/1000)
	w.field("uptime_in_seconds", up)
	w.field("uptime_in_days", up/86400)
	w.field("hz", 1000/cronInterval)
	w.field("configured_hz", srv.cfg.Hz)
	w.field("lru_clock", srv.now/1000&(1<<24-1))
	w.field("executable", exe)
	w.field("config_file", srv.cfg.File())
	w.field("io_threads_active", 0)
	srv.infoListeners(w)
}

// infoListeners names the listeners that the configuration asks for.
func (srv *Server) infoListeners(w *infoWriter) {
	n := 0
	add := func(kind string, binds []string, port int) {
		line := kind
		for _, b := range binds {
			line += ",bind=" + b
		}
		if port > 0 {
			line += ",port=" + strconv.Itoa(port)
		}
		w.field("listener"+strconv.Itoa(n), "name="+line)
		n++
	}
	if srv.cfg.Port != 0 {
		add("tcp", srv.cfg.Bind, srv.cfg.Port)
	}
	if srv.cfg.UnixSocket != "" {
		add("unix", []string{srv.cfg.UnixSocket}, 0)
	}
	if srv.cfg.TLSPort != 0 {
		add("tls", srv.cfg.Bind, srv.cfg.TLSPort)
	}
}

func infoClients(srv *Server, w *infoWriter) {
	pubsubClients, watching := 0, 0
	for _, s := range srv.sessions {
		if s.subscriber() {
			pubsubClients++
		}
		if len(s.watches) > 0 {
			watching++
		}
	}
	srv.usedMemory() // for the peaks of buffers
	in, out := srv.stats.buffers.max()
	watched, waiting := 0, 0
	for i := range srv.watched {
		watched += len(srv.watched[i])
		waiting += len(srv.parked[i])
	}
	w.field("connected_clients", len(srv.sessions))
	w.field("cluster_connections", 0)
	w.field("maxclients", srv.cfg.MaxClients)
	w.field("client_recent_max_input_buffer", in)
	w.field("client_recent_max_output_buffer", out)
	w.field("blocked_clients", srv.stats.blocked)
	w.field("tracking_clients", srv.trackers)
	w.field("pubsub_clients", pubsubClients)
	w.field("watching_clients", watching)
	w.field("clients_in_timeout_table", srv.deadlines.Len())
	w.field("total_watched_keys", watched)
	w.field("total_blocking_keys", waiting)
	reason, actions, left := srv.pause.describe(srv.now)
	w.field("paused_reason", reason)
	w.field("paused_actions", actions)
	w.field("paused_timeout_milliseconds", left)
}

func infoReplication(srv *Server, w *infoWriter) {
	w.field("role", "master")
	w.fields(0, "connected_slaves", "replicas_waiting_psync")
	w.field("master_failover_state", "no-failover")
	w.field("master_replid", srv.runID)
	w.field("master_replid2", strings.Repeat("0", 40))
	w.field("master_repl_offset", 0)
	w.field("second_repl_offset", -1)
	w.fields(0, "repl_backlog_active", "repl_backlog_size", "repl_backlog_first_byte_offset", "repl_backlog_histlen")
}

func infoCPU(_ *Server, w *infoWriter) {
	self, children, thread := cpuTimes()
	for _, t := range []struct {
		whose string
		cpuTime
	}{{"", self}, {"_children", children}, {"_main_thread", thread}} {
		w.field("used_cpu_sys"+t.whose, fmt.Sprintf("%.6f", t.sys))
		w.field("used_cpu_user"+t.whose, fmt.Sprintf("%.6f", t.user))
	}
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
			fmt.Fprintf(w, "db%d:keys=%d,expires=%d,avg_ttl=%d\r\n", i, n, srv.store.Expiring(i), srv.store.AverageTTL(i, srv.now))
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
