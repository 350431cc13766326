package server

import "golang.org/x/sys/unix"

// poke ends the loop's sleep. It may be called from any goroutine, after the loop's end too: then the number of the
// descriptor may be another connection's.
func (l *loop) poke() {
	one := [8]byte{1}
	l.wakeMu.Lock()
	defer l.wakeMu.Unlock()
	if l.wakeFD >= 0 {
		_, _ = unix.Write(l.wakeFD, one[:]) // full means that a wake-up is pending already
	}
}

// closeWake makes further wake-ups idle.
func (l *loop) closeWake() {
	l.wakeMu.Lock()
	defer l.wakeMu.Unlock()
	_ = unix.Close(l.wakeFD)
	l.wakeFD = -1
}
