package parity

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/parity/real"
)

var recordValkey = flag.Bool("record-valkey", false, "TestStartsOnValkey8 writes testdata/valkey8 anew, by the valkey-server 8 that is installed")

const valkeyData = "testdata/valkey8"

// recordedByValkey lets Valkey 8 write the directories that the test starts on: a log with an RDB base and an increment,
// and the snapshot of a node of a cluster, which tells of its slots. Beside each stands what is in it.
func recordedByValkey(t *testing.T) {
	for name, options := range map[string][]string{
		"log":      {"--appendonly", "yes"},
		"snapshot": {"--cluster-enabled", "yes", "--cluster-require-full-coverage", "no", "--cluster-allow-reads-when-down", "yes"},
	} {
		dir, databases := t.TempDir(), 16
		theirs := asker{t, real.Start(t, append(options, "--dir", dir)...)}
		require.Contains(t, string(theirs.do("INFO", "server")), "valkey_version:8.")
		theirs.do("FUNCTION", "LOAD", "#!lua name=lib\nserver.register_function('f', function() return 1 end)")
		if name == "log" {
			populateWith(theirs, 150)
			for _, db := range []string{"0", "3"} { // what has a time has it for long
				theirs.do("SELECT", db)
				theirs.line("PEXPIREAT short 33177117420000")
				theirs.line("PEXPIREAT h2 33177117420001")
			}
			theirs.line("SELECT 0")
			theirs.do("BGREWRITEAOF")
			rewritten(t, theirs)
			theirs.line("SET after 1")
			theirs.line("LPUSH bigl after")
		} else {
			theirs.line("CLUSTER ADDSLOTSRANGE 0 16383")
			for _, line := range []string{"SET int 12345", "SET ttl v PXAT 33177117420000", "HSET h a 1 b 2", "RPUSH l a b", "SADD s a b", "ZADD z 1.5 a", "XADD x 1-1 f v", "XGROUP CREATE x g 0"} {
				require.Eventually(t, func() bool {
					reply, err := theirs.Control(strings.Fields(line)...)
					return err == nil && reply[0] != '-'
				}, 20*time.Second, 20*time.Millisecond)
			}
			theirs.do("SAVE")
			databases = 1
		}
		held := contentsOf(theirs, databases)
		to := filepath.Join(valkeyData, name)
		require.NoError(t, os.RemoveAll(to))
		require.NoError(t, os.CopyFS(to, os.DirFS(dir)))
		require.NoError(t, os.RemoveAll(filepath.Join(to, "nodes.conf")))
		text, err := json.MarshalIndent(held, "", " ")
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(to+".json", append(text, '\n'), 0o644))
	}
}

// TestStartsOnValkey8 starts emqd on directories that Valkey 8 has written, with a function library and slots, which are
// left out.
func TestStartsOnValkey8(t *testing.T) {
	if *recordValkey {
		recordedByValkey(t)
	}
	for _, name := range []string{"log", "snapshot"} {
		text, err := os.ReadFile(filepath.Join(valkeyData, name+".json"))
		require.NoError(t, err)
		var want map[string]string
		require.NoError(t, json.Unmarshal(text, &want))
		dir := copyDir(t, filepath.Join(valkeyData, name))
		for range 2 {
			ours, n := logged(t, dir)
			require.Equal(t, want, contents(ours), name)
			n.Stop()
		}
	}
}
