package store

// Poison makes the store overwrite blocks when they are swept, so that tests see bytes that were kept for
// too long. It is for tests alone.
func (s *Store) Poison() { s.a.poison = true }
