package server

import "log/slog"

// LevelVerbose is Valkey's verbose: less than notice, more than debug.
const LevelVerbose = slog.Level(-2)

// Level returns the least level that loglevel lets through.
func (c *Config) Level() slog.Level {
	switch c.LogLevel {
	case "debug":
		return slog.LevelDebug
	case "verbose":
		return LevelVerbose
	case "warning":
		return slog.LevelWarn
	}
	return slog.LevelInfo
}

// LevelName returns the word for a level in the log: those of loglevel, and error.
func LevelName(l slog.Level) string {
	switch {
	case l < LevelVerbose:
		return "debug"
	case l < slog.LevelInfo:
		return "verbose"
	case l < slog.LevelWarn:
		return "notice"
	case l < slog.LevelError:
		return "warning"
	}
	return "error"
}
