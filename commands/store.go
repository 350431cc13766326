package commands

import (
	"github.com/echomq/emqd/fence"
	"github.com/echomq/emqd/store"
)

// NewStore returns an empty store of n databases that knows which keys are sub-keys of job rows; see store.New for the seed.
func NewStore(n int, seed uint64) *store.Store {
	s := store.New(n, seed)
	s.Divide(fence.OwnerOf)
	return s
}
