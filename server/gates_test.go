package server

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// hindrances are states in which some commands do not run at once.
var hindrances = map[string]func(t *testing.T, h *hot){
	"none":        func(*testing.T, *hot) {},
	"no password": func(_ *testing.T, h *hot) { h.srv.acl.setDefaultPassword("secret"); h.s.authed = false },
	"multi":       func(_ *testing.T, h *hot) { h.s.tx = &transaction{} },
	"narrow user": func(t *testing.T, h *hot) {
		h.turn([]byte("ACL SETUSER narrow on nopass ~k* +@read -get\r\nAUTH narrow x\r\n"))
		require.Equal(t, "narrow", h.s.user.name)
	},
	"no memory":  func(_ *testing.T, h *hot) { h.srv.cfg.MaxMemory = 1 },
	"broken log": func(_ *testing.T, h *hot) { h.srv.aof.broken = errors.New("disk") },
	"no snapshot": func(_ *testing.T, h *hot) {
		h.srv.works.saveBad, h.srv.cfg.StopWritesOnBgsaveError, h.srv.cfg.Save = true, true, []savePoint{{1, 1}}
	},
	"full disk":  func(_ *testing.T, h *hot) { h.srv.aof.tight = true },
	"subscriber": func(_ *testing.T, h *hot) { h.turn([]byte("SUBSCRIBE news\r\n")) },
	"loading":    func(_ *testing.T, h *hot) { h.srv.loading = &loading{} },
	"paused":     func(_ *testing.T, h *hot) { h.srv.pause.all = h.srv.now + 1e6 },
	"no writes":  func(_ *testing.T, h *hot) { h.srv.pause.writes = h.srv.now + 1e6 },
}

// TestUnhinderedCommandsPassTheGates: what runs without being asked by the gates is what they all let pass, whatever the state.
func TestUnhinderedCommandsPassTheGates(t *testing.T) {
	for name, hinder := range hindrances {
		t.Run(name, func(t *testing.T) {
			logged := name == "broken log" || name == "full disk"
			h := newHot(t, &hotPath{log: logged})
			hinder(t, h)
			passed, all := 0, 0
			for _, row := range h.srv.table.Every() {
				for n := 1; n < 12; n++ {
					args := make([][]byte, n)
					for i := range args {
						args[i] = []byte("key")
					}
					all++
					if !h.srv.unhindered(h.s, row, n) {
						continue
					}
					passed++
					require.NoError(t, h.srv.admit(h.s, row, args), "%s with %d arguments", row.FullName(), n)
					require.False(t, h.srv.pause.holds(h.s, row), row.FullName())
					require.Nil(t, h.s.tx)
				}
			}
			require.Less(t, passed, all)
			require.Equal(t, logged || name == "none" || name == "no memory" || name == "no snapshot", passed > 0)
		})
	}
}
