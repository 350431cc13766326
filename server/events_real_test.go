package server

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/parity/real"
	"github.com/echomq/emqd/parity/wire"
)

// eventsOf returns the keyspace events of the classes that the requests cause on a server, as "event@db key".
func eventsOf(t *testing.T, target *wire.Target, classes string, requests []string) (out []string) {
	require.NoError(t, target.Reset(2))
	_, err := target.Control("CONFIG", "SET", "notify-keyspace-events", classes)
	require.NoError(t, err)
	require.NoError(t, target.Send("events", []string{"PSUBSCRIBE", "__keyevent@*__:*", "end"}))
	for range 2 {
		_, err := target.Receive("events")
		require.NoError(t, err)
	}
	for _, line := range append(requests, "PUBLISH end .") {
		args := strings.Fields(line)
		for i := range args {
			if args[i] == "PAYLOAD" {
				args[i] = "\x00\x01v\n\x00\x91\b\xce\xb2\x198\x8a\xce"
			}
		}
		require.NoError(t, target.Send("", args))
		reply, err := target.Receive("")
		require.NoError(t, err)
		require.False(t, reply[0] == '-', "%s: %s", line, reply)
	}
	for {
		message, err := target.Receive("events")
		require.NoError(t, err)
		fields := strings.Split(string(message), "\r\n")
		channel, key := fields[6], fields[8]
		if channel == "end" {
			return out
		}
		out = append(out, strings.NewReplacer("__keyevent@", "", "__", "").Replace(channel)+" "+key)
	}
}

func TestKeyEventsOnARealServer(t *testing.T) {
	theirs := real.Start(t)
	ours, err := wire.Dial("tcp", startServer(t))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, ours.Close()) })
	for _, c := range []struct {
		name, classes string
		requests      []string
	}{
		{"times", "EAn", []string{
			"SET a v", "EXPIRE a 100", "PEXPIREAT a 33177117420000", "PERSIST a", "PERSIST a", "EXPIRE a -1", "EXPIRE a 1", "EXPIRE none 1",
			"SET b v", "EXPIRE b 100 XX", "EXPIRE b 100 NX",
		}},
		{"rename", "EAn", []string{
			"SET a v", "RENAME a b", "RENAME b b", "SET a v", "RENAME a b", "RENAMENX b c", "SET b v", "RENAMENX b c", "HSET h f v", "RENAME h c",
		}},
		{"copy and move", "EAn", []string{
			"SET a v", "COPY a b", "COPY a b", "COPY a b REPLACE", "COPY a a DB 1", "COPY none b REPLACE", "MOVE a 1", "MOVE a 2", "MOVE a 2",
			"RPUSH l x", "COPY l m", "MOVE l 3",
		}},
		{"delete", "EAn", []string{
			"MSET a 1 b 2", "DEL a none a", "UNLINK b none", "HSET h f v", "UNLINK h", "SET a v", "FLUSHDB", "SET a v", "SWAPDB 0 1", "FLUSHALL",
		}},
		{"restore", "EAn", []string{
			"RESTORE a 0 PAYLOAD", "RESTORE a 0 PAYLOAD REPLACE", "RESTORE a 1 PAYLOAD REPLACE ABSTTL", "RESTORE a 1 PAYLOAD ABSTTL",
			"RESTORE a 100000 PAYLOAD",
		}},
		{"misses", "Em", []string{
			"GET a", "TYPE b", "TTL c", "EXISTS d e", "TOUCH f", "DUMP g", "OBJECT ENCODING h", "OBJECT IDLETIME h", "PTTL i",
			"EXPIRETIME j", "SET k v", "GET k", "TYPE k", "EXPIRE l 1", "DEL m", "RENAMENX k n", "COPY o p", "PERSIST q", "STRLEN r",
			"HGET s f", "LLEN t", "ZCARD u", "SCARD v", "MGET w x", "RANDOMKEY", "SCAN 0", "KEYS *",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := eventsOf(t, theirs, c.classes, c.requests)
			require.Equal(t, want, eventsOf(t, ours, c.classes, c.requests))
		})
	}
}
