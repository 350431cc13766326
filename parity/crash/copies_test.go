package crash

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/store/aof"
)

// copies takes backups and snapshots of a node that is killed meanwhile, and looks at what there is afterwards: nothing, or
// something whole.
type copies struct {
	t         *testing.T
	k         *killed
	dest      string
	cmd       *exec.Cmd // the backup that runs
	said      bytes.Buffer
	seq       int64 // of the last record when it began
	backups   int
	cut       int // of backups, those that were killed
	there     int // of those, the ones that were finished all the same
	snapshots int
	dumps     int // snapshots that were found, of one kill or another
}

var lastSeq = regexp.MustCompile(`log_synced_seq:(\d+)`)

// begin starts a backup.
func (c *copies) begin() {
	to, _ := c.k.dial(0)
	info, err := to.do("INFO", "persistence")
	require.NoError(c.t, err)
	to.leave()
	m := lastSeq.FindStringSubmatch(info)
	require.NotNil(c.t, m, info)
	c.seq, err = strconv.ParseInt(m[1], 10, 64)
	require.NoError(c.t, err)
	c.backups++
	c.start()
}

func (c *copies) start() {
	c.said.Reset()
	c.cmd = exec.Command(c.k.bin, "backup", c.dest, "--dir", c.k.dir)
	c.cmd.Stdout, c.cmd.Stderr = &c.said, &c.said
	require.NoError(c.t, c.cmd.Start())
}

// end waits for the backup, which is killed before when cut is set, and looks at it.
func (c *copies) end(cut bool) {
	if cut {
		c.cut++
		require.NoError(c.t, c.cmd.Process.Kill())
	}
	err := c.cmd.Wait()
	_, missing := os.Stat(filepath.Join(c.dest, "appendonlydir", "appendonly.aof.manifest"))
	switch {
	case !cut:
		require.NoError(c.t, err, c.said.String())
	case missing == nil:
		c.there++
	default: // it is none, and is made again at the same place
		require.ErrorIs(c.t, missing, fs.ErrNotExist)
		c.start()
		require.NoError(c.t, c.cmd.Wait(), c.said.String())
	}
	state, err := aof.Verify(aof.Disk{}, filepath.Join(c.dest, "appendonlydir"), "appendonly.aof")
	require.NoError(c.t, err)
	require.Nil(c.t, state.Tail)
	require.GreaterOrEqual(c.t, state.Next-1, c.seq)
	require.NoError(c.t, os.RemoveAll(c.dest))
}

// look requires that the snapshot in the directory of the node is whole, if there is one, and removes it.
func (c *copies) look() {
	name := filepath.Join(c.k.dir, "dump.rdb")
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		return
	}
	state, err := aof.VerifyRDB(aof.Disk{}, name)
	require.NoError(c.t, err)
	require.Greater(c.t, state.Keys, int64(*ballast))
	require.NoError(c.t, os.Remove(name))
	c.dumps++
}

func (c *copies) report() string {
	return fmt.Sprintf("%d backups while the node was killed, %d of them killed themselves (%d were finished); %d kills during a snapshot, %d snapshots found: all whole",
		c.backups, c.cut, c.there, c.snapshots, c.dumps)
}
