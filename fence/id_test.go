package fence

import (
	"bytes"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestParseID(t *testing.T) {
	for _, c := range []struct {
		id        string
		snowflake Snowflake
	}{
		{"USR0KHTOWnGLuC", 274557032793636864},
		{"USR0NgWEfAEJfs", 320636799581945856},
		{"JOB00000000000", 0},
		{"EVT00000000001", 1},
		{"AAA0000000000z", 61},
		{"ZZZ00000000010", 62},
		{"JOBAzL8n0Y58m7", math.MaxInt64},
	} {
		namespace, s, ok := ParseID([]byte(c.id))
		require.True(t, ok, c.id)
		require.Equal(t, c.id[:3], string(namespace))
		require.Equal(t, c.snowflake, s)
		require.Equal(t, c.id, FormatID(string(namespace), s))
	}
}

func TestParseIDRefuses(t *testing.T) {
	for _, id := range []string{"", "JOB", "JOB0KHTOWnGLu", "JOB0KHTOWnGLuCC", "job0KHTOWnGLuC", "JO10KHTOWnGLuC",
		"JOB0KHTOWnGL-C", "JOB0KHTOWnGL C", "JOB0KHTOWnGL\x00C", "JOB0KHTOWnG\xc3\xa9", "JOBzzzzzzzzzzz", "JOBAzL8n0Y58m8",
		"JOBB0000000000", "JÖB0KHTOWnGLu"} {
		_, s, ok := ParseID([]byte(id))
		require.False(t, ok, "%q", id)
		require.Zero(t, s)
	}
}

func TestIsJob(t *testing.T) {
	for id, want := range map[string]bool{"JOB": true, "JOB0KHTOWnGLuC": true, "JOBx:logs": true, "JOB-": true,
		"": false, "JO": false, "job0KHTOWnGLuC": false, "EVT0KHTOWnGLuC": false} {
		require.Equal(t, want, IsJob([]byte(id)), id)
	}
}

func TestParseEvent(t *testing.T) {
	s, ok := ParseEvent([]byte("EVT0KHTOWnGLuC"))
	require.True(t, ok)
	require.Equal(t, Snowflake(274557032793636864), s)
	for _, id := range []string{"JOB0KHTOWnGLuC", "EVT", "EVTzzzzzzzzzzz", ""} {
		_, ok := ParseEvent([]byte(id))
		require.False(t, ok, id)
	}
}

func TestSnowflakeParts(t *testing.T) {
	s := Snowflake(5)<<22 | 1023<<12 | 4095
	require.Equal(t, SnowflakeEpoch+5, s.UnixMilli())
	require.Equal(t, 1023, s.Node())
	require.Equal(t, 4095, s.Seq())
	require.Equal(t, int64(1<<22-1), s.Low22())
	require.Equal(t, SnowflakeEpoch, Snowflake(0).UnixMilli())
	require.Equal(t, SnowflakeEpoch+1<<41-1, Snowflake(math.MaxInt64).UnixMilli())
}

func TestIDRoundTripAndOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.Int64Range(0, math.MaxInt64)
		a, b := number.Draw(t, "a"), number.Draw(t, "b")
		idA, idB := AppendID(nil, "JOB", Snowflake(a)), AppendID(nil, "JOB", Snowflake(b))
		_, s, ok := ParseID(idA)
		require.True(t, ok)
		require.Equal(t, Snowflake(a), s)
		require.Equal(t, s, Snowflake((s.UnixMilli()-SnowflakeEpoch)<<22|s.Low22()))
		want := 0
		if a < b {
			want = -1
		} else if a > b {
			want = 1
		}
		require.Equal(t, want, bytes.Compare(idA, idB), "byte order is numeric order")
	})
}

func FuzzParseID(f *testing.F) {
	f.Fuzz(func(t *testing.T, id []byte) {
		namespace, s, ok := ParseID(id)
		if !ok {
			require.Zero(t, s)
			return
		}
		require.GreaterOrEqual(t, s, Snowflake(0))
		require.Equal(t, string(id), FormatID(string(namespace), s))
		require.Equal(t, string(namespace) == JobNamespace, IsJob(id))
		require.GreaterOrEqual(t, s.UnixMilli(), SnowflakeEpoch)
	})
}

func TestIDAllocs(t *testing.T) {
	id, bad := []byte("EVT0KHTOWnGLuC"), []byte("JOBzzzzzzzzzzz")
	buf := make([]byte, 0, IDLen)
	m, err := NewMinter("JOB", 1, func() int64 { return SnowflakeEpoch })
	require.NoError(t, err)
	allocs := testing.AllocsPerRun(100, func() {
		s, ok := ParseEvent(id)
		_, _, badOK := ParseID(bad)
		if !ok || badOK || IsJob(id) {
			t.Fatal("an id was misread")
		}
		buf = AppendID(buf[:0], EventNamespace, s)
		buf = m.AppendMint(buf[:0])
	})
	require.Zero(t, allocs)
}

func TestMinterIsMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := SnowflakeEpoch + rapid.Int64Range(-10, 1<<40).Draw(t, "start")
		node := rapid.IntRange(0, 1023).Draw(t, "node")
		m, err := NewMinter("JOB", node, func() int64 { return now })
		require.NoError(t, err)
		last := ""
		for _, step := range rapid.SliceOfN(rapid.Int64Range(-5, 5), 1, 50).Draw(t, "steps") {
			now += step
			id := m.Mint()
			require.Greater(t, id, last)
			_, s, ok := ParseID([]byte(id))
			require.True(t, ok)
			require.Equal(t, node, s.Node())
			require.GreaterOrEqual(t, s.UnixMilli(), now)
			last = id
		}
	})
}

func TestMinterRunsIntoTheNextMillisecond(t *testing.T) {
	now := SnowflakeEpoch + 7
	m, err := NewMinter("JOB", 3, func() int64 { return now })
	require.NoError(t, err)
	last := Snowflake(-1)
	for i := range 2 * 4096 {
		s := m.Next()
		require.Greater(t, s, last)
		require.Equal(t, now+int64(i/4096), s.UnixMilli())
		require.Equal(t, i%4096, s.Seq())
		last = s
	}
	now++ // the clock arrives in the millisecond that was borrowed from
	require.Equal(t, SnowflakeEpoch+9, m.Next().UnixMilli())
}

func TestMinterEnds(t *testing.T) {
	now := SnowflakeEpoch + 1<<41 - 1
	m, err := NewMinter("JOB", 0, func() int64 { return now })
	require.NoError(t, err)
	require.NotPanics(t, func() { m.Next() })
	now++
	require.Panics(t, func() { m.Next() })
}

func TestNewMinterRefuses(t *testing.T) {
	clock := func() int64 { return 0 }
	for _, namespace := range []string{"", "JO", "JOBS", "job", "J0B"} {
		_, err := NewMinter(namespace, 0, clock)
		require.Error(t, err, namespace)
	}
	for _, node := range []int{-1, 1024} {
		_, err := NewMinter("JOB", node, clock)
		require.Error(t, err, node)
	}
}
