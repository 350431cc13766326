package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// smallDisk mounts a file system of 16 MB of its own, or skips the test where that is not allowed.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("emqd", dir, "tmpfs", 0, "size=16m"); err != nil {
		t.Skip("a file system cannot be mounted here: ", err)
	}
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(dir, syscall.MNT_FORCE|2)) }) // 2: detach, also while it is used
	return dir
}

// occupy writes a file until not one byte more fits.
func occupy(t *testing.T, name string) {
	t.Helper()
	f, err := os.Create(name)
	require.NoError(t, err)
	for size := 64 << 10; size > 0; {
		if _, err := f.Write(make([]byte, size)); errors.Is(err, syscall.ENOSPC) {
			size /= 2
		} else {
			require.NoError(t, err)
		}
	}
	require.NoError(t, f.Close())
}

// pass reads a whole reply of any type away.
func pass(t *testing.T, in *bufio.Reader) {
	t.Helper()
	line, err := in.ReadString('\n')
	require.NoError(t, err)
	n, _ := strconv.Atoi(strings.TrimSpace(line[1:]))
	switch line[0] {
	case '$':
		if n >= 0 {
			_, err = in.Discard(n + 2)
			require.NoError(t, err)
		}
	case '*':
		for range n {
			pass(t, in)
		}
	default:
		require.NotEqual(t, byte('-'), line[0], line)
	}
}

// TestFullDisk fills a real file system under a node to the last byte and frees it again: no new jobs meanwhile, held claims
// end, reads go on; afterwards writes go on by themselves, and everything acknowledged is there after a kill.
func TestFullDisk(t *testing.T) {
	disk := smallDisk(t)
	p := newPlace(t)
	cmd := p.start(t, filepath.Join(disk, "data"))
	c := p.dial(t)
	const q = "emq:{q}:"
	id := func(i int) string { return fmt.Sprintf("JOB%011d", i) }
	enqueue := func(i int, payload string) string {
		return c.do(t, fmt.Sprintf("EMQ.ENQUEUE 2 %sjob:%s %spending %s %s", q, id(i), q, id(i), payload))
	}
	_, err := fmt.Fprint(c, "EMQ.INSTALL\r\n")
	require.NoError(t, err)
	pass(t, c.in)
	const held = 90
	for i := range held {
		require.Equal(t, ":1", enqueue(i, "p"))
	}
	for range held {
		_, err := fmt.Fprintf(c, "EMQ.CLAIM 3 %spending %sactive %s 1000000\r\n", q, q, q)
		require.NoError(t, err)
		pass(t, c.in)
	}
	require.Equal(t, ":"+strconv.Itoa(held), c.do(t, "ZCARD "+q+"active"))

	ballast := filepath.Join(disk, "ballast")
	occupy(t, ballast)
	payload, last := strings.Repeat("p", 4000), held
	reply := enqueue(last, payload)
	for ; reply == ":1" && last < 10_000; reply = enqueue(last, payload) {
		last++
	}
	require.Equal(t, "-MISCONF Errors writing to the AOF file: no space left on device", reply)
	require.Equal(t, "full", c.info(t, "log_health"))
	for i := range held {
		row := q + "job:" + id(i)
		switch i % 3 {
		case 0:
			require.Equal(t, ":1", c.do(t, fmt.Sprintf("EMQ.COMPLETE 3 %sactive %s %s %s 1", q, row, q, id(i))))
		case 1:
			require.Equal(t, "dead", strings.TrimPrefix(c.do(t, fmt.Sprintf(
				"EMQ.FAIL 5 %sactive %sschedule %sdead %s %s %s 1 0 1 boom", q, q, q, row, q, id(i))), "+"))
		default:
			require.Equal(t, ":1", c.do(t, fmt.Sprintf("EMQ.EXTEND 2 %sactive %s %s 1 2000000", q, row, id(i))))
		}
	}
	require.Contains(t, enqueue(last, payload), "-MISCONF")
	require.Equal(t, payload, c.do(t, "HGET "+q+"job:"+id(last-1)+" payload"))

	require.NoError(t, os.Remove(ballast))
	for c.info(t, "log_health") != "well" {
	}
	require.Equal(t, ":1", enqueue(last, payload))
	digest := c.do(t, "DEBUG DIGEST")
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait() // it was killed

	p.start(t, filepath.Join(disk, "data"))
	c = p.dial(t)
	for c.info(t, "loading") != "0" {
	}
	require.Equal(t, digest, c.do(t, "DEBUG DIGEST"))
	require.Equal(t, ":"+strconv.Itoa(held/3), c.do(t, "ZCARD "+q+"active"))
	require.Equal(t, ":"+strconv.Itoa(held/3), c.do(t, "ZCARD "+q+"dead"))
	require.Equal(t, ":"+strconv.Itoa(last+1-held), c.do(t, "ZCARD "+q+"pending"))
}
