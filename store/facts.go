package store

import "github.com/tidwall/btree"

// ArenaFacts are bytes of the arena, those of huge blocks included: in use, in pages and huge blocks that are in use, and
// kept of the system's memory. The last is the most it may be: of a page that was never used the system has given nothing.
type ArenaFacts struct{ Live, Active, Resident int64 }

// Arena tells what the arena holds.
func (s *Store) Arena() ArenaFacts {
	a := s.a
	huge := int64(0)
	for _, b := range a.huge {
		huge += int64(len(b))
	}
	pages := int64(len(a.pages)-1-len(a.free)-len(a.warm)) * pageSize
	f := ArenaFacts{Live: a.live, Active: pages + huge}
	f.Resident = f.Active + int64(len(a.warm))*pageSize + int64(a.warmBytes)
	for _, r := range s.retired {
		f.Resident += r.mapped
	}
	return f
}

// TableFacts are bytes of a database's own tables: of its keys, of the table of keys that is being left for another, and of
// the orders of times.
type TableFacts struct{ Keys, Leaving, Times int64 }

// Tables tells what the tables of database i take.
func (s *Store) Tables(i int) TableFacts {
	d := s.dbs[i]
	f := TableFacts{Keys: d.keys.bytes(), Times: int64(d.expires.Len()+d.fields.Len()) * timeBytes}
	if d.keys.moving >= 0 {
		f.Leaving = d.keys.t[0].bytes()
	}
	return f
}

// ttlSamples is how many keys' times AverageTTL looks at.
const ttlSamples = 64

// AverageTTL estimates the mean time to live in ms of the keys of database i that have one, from a few that stand evenly in
// the order of their times; 0 when there is none. It is exact for up to that many.
func (s *Store) AverageTTL(i int, now int64) int64 {
	times := s.dbs[i].expires
	gone := pastTime(times, now)
	n := times.Len() - gone
	k := min(n, ttlSamples)
	if k == 0 {
		return 0
	}
	sum := int64(0)
	for j := range k {
		d, _ := times.GetAt(gone + (2*j+1)*n/(2*k))
		sum += d.at - now
	}
	return sum / int64(k)
}

// Past returns how many keys with a time there are, and how many of them are past it and not removed yet.
func (s *Store) Past(now int64) (past, timed int) {
	for _, d := range s.dbs {
		past += pastTime(d.expires, now)
		timed += d.expires.Len()
	}
	return past, timed
}

// pastTime returns how many times have come.
func pastTime(times *btree.BTreeG[deadline], now int64) int {
	low, high := 0, times.Len()
	for low < high {
		mid := (low + high) / 2
		if d, _ := times.GetAt(mid); d.at <= now {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}
