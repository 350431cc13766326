package store

import "testing"

// benchStream returns a store with a stream of a million entries and a group that has read half of them.
func benchStream(b *testing.B) *Store {
	s := New(1, 1)
	fields := [][]byte{[]byte("kind"), []byte("order"), []byte("size"), []byte("12")}
	for i := range 1_000_000 {
		tx := s.Begin(0, 1, false)
		x, _ := tx.Stream([]byte("s"))
		x.Add(StreamID{uint64(i + 1), 0}, fields)
		if i == 0 {
			x.CreateGroup([]byte("g"), StreamID{}, 0)
		}
		tx.Commit()
	}
	tx := s.Begin(0, 1, false)
	x, _ := tx.Stream([]byte("s"))
	g, _ := x.Group([]byte("g"))
	c, _ := g.CreateConsumer([]byte("c"))
	c.Next(500_000, false, func(StreamEntry) {})
	tx.Commit()
	b.ResetTimer()
	return s
}

func BenchmarkStreamAdd(b *testing.B) {
	s := benchStream(b)
	fields := [][]byte{[]byte("kind"), []byte("order"), []byte("size"), []byte("12")}
	for i := range b.N {
		tx := s.Begin(0, 1, false)
		x, _ := tx.Stream([]byte("s"))
		x.Add(StreamID{uint64(2_000_000 + i), 0}, fields)
		tx.Commit()
	}
}

func BenchmarkStreamDeliverAndAck(b *testing.B) {
	s := benchStream(b)
	for i := range b.N {
		tx := s.Begin(0, 1, false)
		x, _ := tx.Stream([]byte("s"))
		g, _ := x.Group([]byte("g"))
		c, _ := g.CreateConsumer([]byte("c"))
		c.Next(1, false, func(StreamEntry) {})
		g.Ack(StreamID{uint64(i*7919%500_000 + 1), 0})
		tx.Commit()
	}
}

func BenchmarkStreamRange(b *testing.B) {
	s := benchStream(b)
	for i := range b.N {
		tx := s.Begin(0, 1, true)
		x, _ := tx.Stream([]byte("s"))
		n := 0
		x.Each(StreamID{uint64(i * 7919 % 1_000_000), 0}, MaxStreamID, func(StreamEntry) bool {
			n++
			return n < 10
		})
		tx.Commit()
	}
}
