package main

import (
	"io"
	"log/slog"
	"os"

	"github.com/echomq/emqd/server"
)

// newLogger returns the log that cfg describes and what to close at the end. CONFIG SET loglevel
// works on it.
func newLogger(cfg *server.Config) (*slog.Logger, io.Closer, error) {
	out := os.Stderr
	closer := io.NopCloser(nil) // the error that ends the program is written there, too
	if cfg.LogFile != "" {
		f, err := os.OpenFile(cfg.LogFile, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o640)
		if err != nil {
			return nil, nil, err
		}
		out, closer = f, f
	}
	level := new(slog.LevelVar)
	follow := func(c *server.Config) error {
		level.Set(c.Level())
		return nil
	}
	if err := follow(cfg); err != nil {
		return nil, nil, err
	}
	cfg.OnSet("loglevel", follow)
	options := &slog.HandlerOptions{Level: level, ReplaceAttr: levelNames}
	var handler slog.Handler = slog.NewTextHandler(out, options)
	if cfg.LogFormat == "json" {
		handler = slog.NewJSONHandler(out, options)
	}
	return slog.New(handler), closer, nil
}

// levelNames calls the levels as the setting loglevel does.
func levelNames(_ []string, a slog.Attr) slog.Attr {
	if level, ok := a.Value.Any().(slog.Level); ok && a.Key == slog.LevelKey {
		a.Value = slog.StringValue(server.LevelName(level))
	}
	return a
}
