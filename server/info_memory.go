package server

import (
	"fmt"
	"runtime/metrics"

	"github.com/echomq/emqd/store"
)

// baseMemory is what an idle node takes: its tables, its buffers, the runtime.
const baseMemory = 1 << 20

// usedMemory returns the bytes that the node, its keyspace and its clients take, and remembers the most of it and of the
// clients' buffers.
func (srv *Server) usedMemory() int64 {
	srv.clientMem, srv.evictable = 0, 0
	for _, s := range srv.sessions {
		p := s.memory()
		srv.clientMem += p.total
		if !s.noEvict {
			srv.evictable += p.total
		}
		srv.stats.buffers.note(srv.now, p.input+p.args+p.multi, p.fixed+p.list)
	}
	return srv.notePeak()
}

// notePeak returns the memory in use, with what clients took when they were looked at last.
func (srv *Server) notePeak() int64 {
	total := srv.countedMemory() + int64(srv.logBuffer())
	srv.stats.peak = max(srv.stats.peak, total)
	return total
}

// fewClients is how many clients are looked at in every round of the timer, which takes a tenth of a millisecond. More are
// looked at once a second.
const fewClients = 1000

// sampleMemory notes the memory in use, for its peak and for maxmemory.
func (srv *Server) sampleMemory() {
	if len(srv.sessions) > fewClients && srv.now < srv.clientsAt {
		srv.notePeak()
		return
	}
	srv.clientsAt = srv.now + 1000
	srv.usedMemory()
}

// countedMemory returns the bytes that maxmemory limits: all but what waits to be written to the log. What clients take is
// of the time at which they were looked at last.
func (srv *Server) countedMemory() int64 {
	return baseMemory + srv.store.Memory() + srv.clientMem + srv.tracked.bytes
}

// bufferPeaks are the largest buffers of a client in each of the last seconds.
type bufferPeaks [8]struct{ second, in, out int64 }

func (p *bufferPeaks) note(now, in, out int64) {
	second := now / 1000
	slot := &p[second%int64(len(p))]
	if slot.second != second {
		slot.second, slot.in, slot.out = second, 0, 0
	}
	slot.in, slot.out = max(slot.in, in), max(slot.out, out)
}

func (p *bufferPeaks) max() (in, out int64) {
	newest := int64(0)
	for _, slot := range p {
		newest = max(newest, slot.second)
	}
	for _, slot := range p {
		if slot.second > newest-int64(len(p)) {
			in, out = max(in, slot.in), max(out, slot.out)
		}
	}
	return in, out
}

// followLimit notes how long the node is over maxmemory; the timer calls it.
func (srv *Server) followLimit() {
	st := &srv.stats
	over := srv.cfg.MaxMemory > 0 && srv.countedMemory() > srv.cfg.MaxMemory
	switch {
	case over && st.overSince == 0:
		st.overSince = srv.now
	case !over && st.overSince != 0:
		st.overTotal += srv.now - st.overSince
		st.overSince = 0
	}
}

// overMemory returns for how many ms the node has been over maxmemory.
func (srv *Server) overMemory() int64 {
	if srv.stats.overSince == 0 {
		return 0
	}
	return srv.now - srv.stats.overSince
}

// memoryFacts are where memory goes, in bytes.
type memoryFacts struct {
	store.ArenaFacts
	used, overhead, data int64 // data is what is no overhead
	log, rss             int64
	tables, leaving      int64 // of keys and times; of these, what is being left for larger or smaller ones
	moving               int64 // how many are being left
	keys                 int64 // how many
}

func (srv *Server) memoryFacts() memoryFacts {
	m := memoryFacts{ArenaFacts: srv.store.Arena(), used: srv.usedMemory(), log: int64(srv.logBuffer()), rss: residentMemory(), keys: srv.store.Keys()}
	m.overhead = baseMemory + srv.clientMem + srv.tracked.bytes + m.log
	for i := range srv.store.Databases() {
		t := srv.store.Tables(i)
		m.tables += t.Keys + t.Times
		m.leaving += t.Leaving
		if t.Leaving > 0 {
			m.moving++
		}
	}
	m.overhead += m.tables
	m.data = m.used - m.overhead
	return m
}

// perKey returns the mean bytes of a key's value.
func (m *memoryFacts) perKey() int64 { return m.data / max(m.keys, 1) }

// dataPart returns the part of the data in what is used beyond an idle node, in per cent.
func (m *memoryFacts) dataPart() float64 { return percent(m.data, max(m.used-baseMemory, 1)) }

// excess is how much more one figure is than another.
type excess struct {
	ratio float64
	bytes int64
}

func over(more, less int64) excess { return excess{float64(more) / float64(max(less, 1)), more - less} }

// holes is what of the pages in use is free.
func (m *memoryFacts) holes() excess {
	return excess{float64(m.Active-m.Live)/float64(max(m.Live, 1)) + 1, m.Active - m.Live}
}

// excesses returns the figures that INFO and MEMORY STATS have of memory beyond what is in use, without the endings of
// their names.
func (m *memoryFacts) excesses() (holes, resident, process, all excess) {
	return m.holes(), over(m.Resident, m.Active), over(m.rss, m.Resident), over(m.rss, m.used)
}

func infoMemory(srv *Server, w *infoWriter) {
	m := srv.memoryFacts()
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/total:bytes"}}
	metrics.Read(heap)
	size := func(name string, n int64) {
		w.field(name, n)
		w.field(name+"_human", human(n))
	}
	size("used_memory", m.used)
	size("used_memory_rss", m.rss)
	size("used_memory_peak", srv.stats.peak)
	w.field("used_memory_peak_perc", fmt.Sprintf("%.2f%%", percent(m.used, srv.stats.peak)))
	w.field("used_memory_overhead", m.overhead)
	w.field("used_memory_startup", baseMemory)
	w.field("used_memory_dataset", m.data)
	w.field("used_memory_dataset_perc", fmt.Sprintf("%.2f%%", m.dataPart()))
	w.field("allocator_allocated", m.Live)
	w.field("allocator_active", m.Active)
	w.field("allocator_resident", m.Resident)
	w.field("allocator_muzzy", 0)
	w.field("go_heap_objects", heap[0].Value.Uint64())
	w.field("go_total", heap[1].Value.Uint64())
	size("total_system_memory", systemMemory())
	size("used_memory_lua", 0)
	w.fields(0, "used_memory_vm_eval", "used_memory_scripts_eval", "number_of_cached_scripts", "number_of_functions",
		"number_of_libraries", "used_memory_vm_functions", "used_memory_functions")
	size("used_memory_vm_total", 0)
	size("used_memory_scripts", 0)
	size("maxmemory", srv.cfg.MaxMemory)
	w.field("maxmemory_policy", srv.cfg.MaxMemoryPolicy)
	holes, resident, process, all := m.excesses()
	for _, e := range []struct {
		name string
		excess
	}{{"allocator_frag", holes}, {"allocator_rss", resident}, {"rss_overhead", process}, {"mem_fragmentation", all}} {
		w.field(e.name+"_ratio", fmt.Sprintf("%.2f", e.ratio))
		w.field(e.name+"_bytes", e.bytes)
	}
	w.field("mem_not_counted_for_evict", m.log)
	w.fields(0, "mem_replication_backlog", "mem_total_replication_buffers", "mem_clients_slaves", "mem_cluster_links")
	w.field("mem_clients_normal", srv.clientMem)
	w.field("mem_aof_buffer", m.log)
	w.field("mem_allocator", "arena")
	w.field("mem_overhead_db_hashtable_rehashing", m.leaving)
	w.field("active_defrag_running", 0)
	w.field("lazyfree_pending_objects", srv.store.Pending())
	w.field("lazyfreed_objects", srv.store.Stats.Reclaimed)
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
