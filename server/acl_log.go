package server

import "container/list"

// aclLogGroup is how long, in milliseconds, the same refusal counts as one entry of the log.
const aclLogGroup = 60_000

// aclLogScan is how many entries are looked through for the same refusal.
const aclLogScan = 10

// aclLog is the latest refusals, newest first, and how many there were.
type aclLog struct {
	entries list.List // of *aclLogEntry
	nextID  int64
	denied  [aclDeniedChannel + 1]int64 // refusals since start, by reason
}

// aclLogEntry is a refusal, or several of the same kind. Times are Unix milliseconds.
type aclLogEntry struct {
	aclRefused
	id      int64
	count   int64
	created int64
	updated int64
}

// aclRefused is what is known of a refusal.
type aclRefused struct {
	reason   aclReason
	inMulti  bool   // refused by EXEC, or between MULTI and EXEC
	object   string // the command, key or channel, or the command that was to authenticate
	username string
	client   string // the client as CLIENT LIST shows it
}

// add records a refusal at now and keeps at most limit entries.
func (l *aclLog) add(r aclRefused, now, limit int64) {
	l.denied[r.reason]++
	if limit > 0 {
		l.record(r, now)
	}
	for int64(l.entries.Len()) > limit {
		l.entries.Remove(l.entries.Back())
	}
}

func (l *aclLog) record(r aclRefused, now int64) {
	at := l.entries.Front()
	for range aclLogScan {
		if at == nil {
			break
		}
		if e := at.Value.(*aclLogEntry); e.groups(r, now) {
			e.client, e.updated = r.client, now
			e.count++
			l.entries.MoveToFront(at)
			return
		}
		at = at.Next()
	}
	l.entries.PushFront(&aclLogEntry{aclRefused: r, id: l.nextID, count: 1, created: now, updated: now})
	l.nextID++
}

func (e *aclLogEntry) groups(r aclRefused, now int64) bool {
	apart := now - e.updated
	return e.reason == r.reason && e.inMulti == r.inMulti && e.object == r.object && e.username == r.username &&
		-aclLogGroup <= apart && apart <= aclLogGroup
}

// latest returns up to n entries, newest first.
func (l *aclLog) latest(n int64) []aclLogEntry {
	var out []aclLogEntry
	for at := l.entries.Front(); at != nil && int64(len(out)) < n; at = at.Next() {
		out = append(out, *at.Value.(*aclLogEntry))
	}
	return out
}

// reset forgets the entries; the counts stay.
func (l *aclLog) reset() {
	l.entries.Init()
}

func (r aclReason) String() string {
	return [...]string{"allowed", "command", "key", "auth", "channel"}[r]
}

// context returns the entry's context as ACL LOG names it.
func (r *aclRefused) context() string {
	if r.inMulti {
		return "multi"
	}
	return "toplevel"
}
