package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/echomq/emqd/server"
)

// serve runs a node until a signal or a client stops it.
func serve(cfg *server.Config) error {
	log, closer, err := newLogger(cfg)
	if err != nil {
		return err
	}
	defer func() { _ = closer.Close() }()
	if err := os.MkdirAll(cfg.Dir, 0o750); err != nil {
		return fmt.Errorf("dir: %w", err)
	}
	for _, w := range cfg.Warnings() {
		log.Warn(w)
	}
	fitClients(cfg, log)
	node, err := server.New(cfg, log)
	if err != nil {
		return err
	}
	node.BuildIn(executable(), "build")
	ctx, stop := untilSignal(log, os.Exit)
	defer stop()
	return node.Run(ctx)
}

// untilSignal returns a context that the first SIGTERM or SIGINT ends. A second one calls exit with
// 128 and its number.
func untilSignal(log *slog.Logger, exit func(code int)) (context.Context, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		for first := true; ; first = false {
			s, ok := <-signals
			if !ok {
				return
			}
			if !first {
				log.Warn("stopping at once", "signal", s.String())
				exit(128 + int(s.(syscall.Signal)))
			}
			log.Info("stopping", "signal", s.String())
			cancel()
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(signals)
		cancel()
	}
}
