package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestBuildHurries gives a child no chance to end, so that another one is begun, in a hurry and on an empty file.
func TestBuildHurries(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "base"))
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	const child = `read -r -d '}' order
		case "$order" in
		*'"Hurry":true'*) printf new >&3; echo '{"Keys":7}';;
		*) printf 'begun before' >&3; exec cat;;
		esac`
	b, err := buildInChild(t.Context(), []string{"bash", "-c", child}, &buildOrder{}, f, 20*time.Millisecond)
	require.NoError(t, err)
	require.EqualValues(t, 7, b.Keys)
	text, err := os.ReadFile(f.Name())
	require.NoError(t, err)
	require.Equal(t, "new", strings.TrimLeft(string(text), "\x00"), "the offset of the file is the two children's")
}
