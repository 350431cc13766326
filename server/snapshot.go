package server

import (
	"io"
	"strconv"

	"github.com/echomq/emqd/store"
	"github.com/echomq/emqd/store/aof"
	"github.com/echomq/emqd/store/rdb"
)

// snapshot writes the data in memory as an RDB file while nothing changes it.
type snapshot struct {
	store *store.Store
	out   *rdb.Writer
	now   int64
	seq   int64 // of the last record that the data holds
	base  bool  // of a log
	plain bool  // strings are not compressed
	pause func()
	keys  int64 // written so far

	// leaveOut, when set, is asked about each key.
	leaveOut func(db int, key []byte, v *rdb.Value, version int) bool
	version  int
}

// snapshotVersion returns the oldest version of the format that can hold the data, so that as many servers as possible
// can read it.
func snapshotVersion(s *store.Store) int {
	for i := range s.Databases() {
		if s.ExpiringHashes(i) > 0 {
			return rdb.Version80
		}
	}
	return rdb.Version10
}

// write writes the whole file. Between small parts it calls pause, which may let others read.
func (n *snapshot) write(w io.Writer) error {
	n.version = snapshotVersion(n.store)
	out, err := rdb.NewWriter(w, n.version)
	if err != nil {
		return err
	}
	n.out = out
	out.Encoder.Plain = n.plain
	for _, aux := range [][2]string{
		{"redis-ver", compatVersion}, {"redis-bits", "64"}, {"ctime", strconv.FormatInt(n.now/1000, 10)},
		{"aof-base", strconv.Itoa(bit(n.base))}, {aof.AuxEpoch, strconv.FormatInt(n.store.Epoch, 10)}, {aof.AuxSeq, strconv.FormatInt(n.seq, 10)},
	} {
		if err := out.Aux(aux[0], aux[1]); err != nil {
			return err
		}
	}
	for i := range n.store.Databases() {
		if n.store.Len(i) == 0 {
			continue
		}
		if err := out.SelectDB(i, uint64(n.store.Len(i)), uint64(n.store.Expiring(i))); err != nil {
			return err
		}
		if err := n.database(i); err != nil {
			return err
		}
	}
	return out.Close()
}

// database writes the keys of one database, those whose time has come included.
func (n *snapshot) database(i int) error {
	cursor := uint64(0)
	for {
		tx := n.store.BeginReplay(i, n.now)
		var bad error
		cursor = tx.Scan(cursor, func(key []byte, _ store.Kind) {
			v, at, _ := tx.Read(key)
			if n.leaveOut != nil && n.leaveOut(i, key, &v, n.version) {
				return
			}
			n.keys++
			if err := n.out.Key(key, at, &v); err != nil && bad == nil {
				bad = err
			}
		})
		tx.Commit()
		if bad != nil || cursor == 0 {
			return bad
		}
		n.pause()
	}
}
