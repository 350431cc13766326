package server

import (
	"flag"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

var updateConfig = flag.Bool("update-config", false, "write docs/configuration.md instead of comparing it")

func TestConfigReference(t *testing.T) {
	const path = "../docs/configuration.md"
	if *updateConfig {
		require.NoError(t, os.WriteFile(path, []byte(ConfigReference()), 0o644))
	}
	page, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, ConfigReference() == string(page), "docs/configuration.md is behind: run go generate ./server")
}
