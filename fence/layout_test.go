package fence

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func keysOf(keys ...string) [][]byte {
	list := make([][]byte, len(keys))
	for i, k := range keys {
		list[i] = []byte(k)
	}
	return list
}

func TestLayoutCheckRow(t *testing.T) {
	complete := Layout{Active, Row, Base}
	const id = "JOB0KHTOWnGLuC"
	cases := []struct {
		name string
		keys [][]byte
		want string
	}{
		{"right", keysOf("emq:{a}:active", "emq:{a}:job:"+id, "emq:{a}:"), ""},
		{"too few", keysOf("emq:{a}:active", "emq:{a}:job:"+id), "EMQLAYOUT this verb takes 3 keys"},
		{"none", nil, "EMQLAYOUT this verb takes 3 keys"},
		{"wrong set", keysOf("emq:{a}:pending", "emq:{a}:job:"+id, "emq:{a}:"),
			"EMQLAYOUT key 1 must be the active set emq:{q}:active"},
		{"no queue key", keysOf("active", "emq:{a}:job:"+id, "emq:{a}:"),
			"EMQLAYOUT key 1 must be the active set emq:{q}:active"},
		{"row swapped with base", keysOf("emq:{a}:active", "emq:{a}:", "emq:{a}:job:"+id),
			"EMQLAYOUT key 2 must be the job row emq:{q}:job:<id>"},
		{"row without id", keysOf("emq:{a}:active", "emq:{a}:job:", "emq:{a}:"),
			"EMQLAYOUT key 2 must be the job row emq:{q}:job:<id>"},
		{"a sub-key for a row", keysOf("emq:{a}:active", "emq:{a}:job:"+id+":logs", "emq:{a}:"),
			"EMQLAYOUT key 2 must be the job row emq:{q}:job:<id>"},
		{"row of another queue", keysOf("emq:{a}:active", "emq:{b}:job:"+id, "emq:{a}:"),
			"EMQLAYOUT key 2 is of another queue than key 1: all keys must share one base emq:{q}:"},
		{"base of another queue", keysOf("emq:{a}:active", "emq:{a}:job:"+id, "emq:{ab}:"),
			"EMQLAYOUT key 3 is of another queue than key 1: all keys must share one base emq:{q}:"},
		{"row of another id", keysOf("emq:{a}:active", "emq:{a}:job:JOB0KHTOWnGLuD", "emq:{a}:"),
			"EMQLAYOUT key 2 must be the job row emq:{q}:job:<id> of the id in this call"},
		{"row of a longer id", keysOf("emq:{a}:active", "emq:{a}:job:"+id+"x", "emq:{a}:"),
			"EMQLAYOUT key 2 must be the job row emq:{q}:job:<id> of the id in this call"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			base, err := complete.CheckRow(c.keys, []byte(id))
			if c.want == "" {
				require.NoError(t, err)
				require.Equal(t, "emq:{a}:", string(base))
				return
			}
			require.EqualError(t, err, c.want)
			require.Nil(t, base)
		})
	}
}

func TestLayoutCheckName(t *testing.T) {
	enqueue := Layout{Row, Lane, Base}
	keys := keysOf("emq:{a}:job:JOBx", "emq:{a}:g:blue:pending", "emq:{a}:")
	base, err := enqueue.CheckRow(keys, []byte("JOBx"))
	require.NoError(t, err)
	require.NoError(t, enqueue.CheckName(keys, base, Lane, []byte("blue")))
	for _, group := range []string{"", "blu", "blue:pending", "red!"} {
		require.EqualError(t, enqueue.CheckName(keys, base, Lane, []byte(group)),
			"EMQLAYOUT key 2 must be the lane emq:{q}:g:<group>:pending of the group in this call")
	}
	require.EqualError(t, enqueue.CheckName(keys, base, Lane, nil),
		"EMQLAYOUT key 2 must be the lane emq:{q}:g:<group>:pending of the group in this call",
		"a nil name is an empty name, not an unchecked one")
	require.Panics(t, func() { _ = enqueue.CheckName(keys, base, Dedup, nil) })

	// A job without a dedup id still names a dedup key by position.
	remove := Layout{Row, Dedup}
	keys = keysOf("emq:{a}:job:JOBx", "emq:{a}:de:")
	base, err = remove.Check(keys)
	require.NoError(t, err)
	require.NoError(t, remove.CheckName(keys, base, Dedup, nil))
}

func TestLayoutSubKeysShareTheRowsID(t *testing.T) {
	log := Layout{Row, RowLogs}
	_, err := log.Check(keysOf("emq:{a}:job:JOBx", "emq:{a}:job:JOBx:logs"))
	require.NoError(t, err)
	_, err = log.Check(keysOf("emq:{a}:job:JOBx", "emq:{a}:job:JOBy:logs"))
	require.EqualError(t, err,
		"EMQLAYOUT key 2 must be the job's log list emq:{q}:job:<id>:logs of the id in this call")
}

func TestCheckKey(t *testing.T) {
	key, err := CheckKey(4, []byte("emq:{other}:job:JOBp"), Row)
	require.NoError(t, err)
	require.Equal(t, "other", string(key.Queue()))
	require.Equal(t, "JOBp", string(key.Name))
	_, err = CheckKey(70, []byte("emq:{other}:job:"), Row)
	require.EqualError(t, err, "EMQLAYOUT key 70 must be the job row emq:{q}:job:<id>")
}

func TestLayoutTextsBeyondTheTable(t *testing.T) {
	require.EqualError(t, LayoutKey(9, Row), "EMQLAYOUT key 9 must be the job row emq:{q}:job:<id>")
	require.EqualError(t, LayoutName(9, Row), "EMQLAYOUT key 9 must be the job row emq:{q}:job:<id> of the id in this call")
	require.EqualError(t, LayoutBase(12), "EMQLAYOUT key 12 is of another queue than key 1: all keys must share one base emq:{q}:")
	require.EqualError(t, LayoutCount(1), "EMQLAYOUT this verb takes 1 key")
	require.EqualError(t, LayoutCount(9), "EMQLAYOUT this verb takes 9 keys")
	require.EqualError(t, LayoutCountMin(1), "EMQLAYOUT this verb takes at least 1 key")
	require.NotPanics(t, func() { _ = LayoutKey(-1, Kind(200)).Error() })
}

func TestLayoutAllocs(t *testing.T) {
	fail := Layout{Active, Schedule, Dead, Row, Base}
	keys := keysOf("emq:{a}:active", "emq:{a}:schedule", "emq:{a}:dead", "emq:{a}:job:JOBx", "emq:{a}:")
	id, other := []byte("JOBx"), []byte("JOBy")
	allocs := testing.AllocsPerRun(100, func() {
		if _, err := fail.CheckRow(keys, id); err != nil {
			t.Fatal(err)
		}
		if _, err := fail.CheckRow(keys, other); err == nil {
			t.Fatal("a row of another id passed")
		}
		if _, err := fail.CheckRow(keys[1:], id); err == nil {
			t.Fatal("four keys passed")
		}
	})
	require.Zero(t, allocs)
}
