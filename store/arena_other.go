//go:build !unix

package store

func mapChunk(n int) []byte { return make([]byte, n) }

func unmapChunk([]byte) {}

func releasePage([]byte) {}
