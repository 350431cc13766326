package server

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// write puts text in a file of its own directory and returns the path.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestConfigDefaults(t *testing.T) {
	c, err := LoadConfig("", nil, nil)
	require.NoError(t, err)
	require.Equal(t, 6390, c.Port)
	require.Equal(t, []string{"127.0.0.1", "-::1"}, c.Bind)
	require.Equal(t, int64(10000), c.MaxClients)
	require.Equal(t, int64(512<<20), c.ProtoMaxBulkLen)
	require.Equal(t, OutputLimit{Hard: 32 << 20, Soft: 8 << 20, Seconds: 60}, c.ClientOutputLimits[ClassPubSub])
	require.Equal(t, int64(50), c.AdmissionReserve.Bytes(1000))
	require.True(t, filepath.IsAbs(c.Dir))
	for s := range Settings() {
		require.NotEmpty(t, s.Help, s.Name)
		require.NotEmpty(t, s.Group, s.Name)
	}
}

func TestConfigPrecedence(t *testing.T) {
	file := write(t, "emqd.conf", "port 1001\nmaxclients 11\ntimeout 5\n")
	c, err := LoadConfig(file, []string{"EMQD_PORT=1002", "EMQD_MAXCLIENTS=12", "HOME=/"}, []Pair{{"port", "1003"}})
	require.NoError(t, err)
	require.Equal(t, 1003, c.Port)
	require.Equal(t, int64(12), c.MaxClients)
	require.Equal(t, 5, c.Timeout)
	require.Equal(t, 511, c.TCPBacklog)
}
