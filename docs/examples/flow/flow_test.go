package main

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/parity/node"
)

// start starts a node with the fence installed, and a flow that makes parts with f.
func start(t *testing.T, f func(payload string) (string, error)) (*flow, *bytes.Buffer) {
	n := node.Start(t)
	c := redis.NewClient(&redis.Options{Addr: n.Addr})
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	require.NoError(t, c.Do(t.Context(), "EMQ.INSTALL").Err())
	out := new(bytes.Buffer)
	return &flow{redis: c, make: f, out: out}, out
}

func TestReportWaitsForItsParts(t *testing.T) {
	f, out := start(t, func(payload string) (string, error) {
		if strings.HasPrefix(payload, "weather") {
			return "", errors.New("no forecast")
		}
		return strings.ToUpper(payload), nil
	})
	require.NoError(t, f.run(t.Context(), "2026-11"))
	require.Equal(t, "report 2026-11 made: map[JOBsales2026-11:SALES 2026-11 JOBstock2026-11:STOCK 2026-11] "+
		"missing: map[JOBweather2026-11:no forecast]\n", out.String())
	require.Zero(t, f.redis.Exists(t.Context(), reports+"job:JOBreport2026-11").Val())
}

func TestReportDiesWithAPartThatItNeeds(t *testing.T) {
	f, out := start(t, func(payload string) (string, error) {
		if strings.HasPrefix(payload, "sales") {
			return "", errors.New("till locked")
		}
		return payload, nil
	})
	require.NoError(t, f.run(t.Context(), "1"))
	require.Empty(t, out.String())
	require.Equal(t, "dead", f.redis.HGet(t.Context(), reports+"job:JOBreport1", "state").Val())
	why := f.redis.Do(t.Context(), "EMQ.EXPLAIN", 1, reports, "JOBreport1").Val().(map[any]any)
	require.Equal(t, "dead: its child JOBsales1 failed: till locked", why["why"])
}

func TestReportHearsOfARemovedPart(t *testing.T) {
	f, out := start(t, func(payload string) (string, error) { return payload, nil })
	ctx := t.Context()
	require.NoError(t, f.add(ctx, "1"))
	require.NoError(t, f.redis.Do(ctx, "EMQ.REMOVE", 6, parts+"job:JOBweather1", parts+"pending", parts+"active", parts+"schedule",
		parts+"dead", parts+"de:", "JOBweather1", "").Err())
	for _, step := range []func(context.Context) error{f.workParts, f.workReports, f.deliver} {
		require.NoError(t, step(ctx))
		require.Empty(t, out.String())
	}
	require.NoError(t, f.workReports(ctx))
	require.Contains(t, out.String(), "missing: map[JOBweather1:removed]")
	require.Zero(t, f.redis.Exists(ctx, parts+"flow:outbox").Val())
}

// TestPartWithoutPayload takes the payload from a part's row, which is then made of an empty one.
func TestPartWithoutPayload(t *testing.T) {
	f, out := start(t, func(payload string) (string, error) { return "of " + payload, nil })
	ctx := t.Context()
	require.NoError(t, f.add(ctx, "1"))
	require.EqualValues(t, 1, f.redis.HDel(ctx, parts+"job:JOBsales1", "payload").Val())
	for _, step := range []func(context.Context) error{f.workParts, f.deliver, f.workReports} {
		require.NoError(t, step(ctx))
	}
	require.Contains(t, out.String(), "JOBsales1:of  JOBstock1:of stock 1")
}

// TestShell runs the example for redis-cli.
func TestShell(t *testing.T) {
	if _, err := exec.LookPath("redis-cli"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("redis-cli is not installed")
	}
	n := node.Start(t)
	_, port, err := net.SplitHostPort(n.Addr)
	require.NoError(t, err)
	cmd := exec.Command("sh", "flow.sh", port)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, "waits for 2 children\nthe report: sales: 42 / no forecast\n", string(out))
}
