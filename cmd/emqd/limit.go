package main

import (
	"log/slog"
	"syscall"

	"github.com/echomq/emqd/server"
)

// spareFiles is how many descriptors are kept for what is not a client: listeners, logs, data.
const spareFiles = 32

// fitClients lowers maxclients to what the limit of open files allows, as Valkey does. The Go runtime
// has already raised the soft limit to the hard one.
func fitClients(cfg *server.Config, log *slog.Logger) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		log.Warn("the limit of open files is unknown", "error", err)
		return
	}
	room := int64(min(limit.Cur, 1<<32)) - spareFiles
	if room < cfg.MaxClients {
		log.Warn("maxclients is lowered to what the limit of open files (ulimit -n) allows", "maxclients", max(room, 1), "wanted", cfg.MaxClients)
		cfg.MaxClients = max(room, 1)
	}
}
