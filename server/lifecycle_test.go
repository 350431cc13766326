package server

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLifecycleEvents follows jobs through their lives on the channel of their queue.
func TestLifecycleEvents(t *testing.T) {
	addr := startServer(t)
	a, b, c, p := dial(t, addr), dial(t, addr), dial(t, addr), dial(t, addr)
	require.Equal(t, "+OK\r\n", b.do("EMQ.INSTALL"))
	a.do("SUBSCRIBE emq:{q}:events")
	p.do("PSUBSCRIBE emq:{p}:*")
	require.Equal(t, ":1\r\n", b.do("EMQ.ENQUEUE 2 emq:{q}:job:JOB0 emq:{q}:pending JOB0 p"), "off by default")
	require.Equal(t, "+OK\r\n", b.do("CONFIG SET emq-events yes"))
	for _, step := range []struct {
		call   string
		events string // of queue q, separated by spaces
	}{
		{"EMQ.ENQUEUE 2 emq:{q}:job:JOB1 emq:{q}:pending JOB1 p", `{"event":"pending","job":"JOB1"}`},
		{"EMQ.ENQUEUE 2 emq:{q}:job:JOB1 emq:{q}:pending JOB1 p", ""},
		{"EMQ.ENQUEUE 2 emq:{z}:job:JOB1 emq:{z}:pending JOB1 p", ""},
		{"HSET emq:{q}:job:JOBx state pending", ""},
		{"EMQ.CLAIMS 3 emq:{q}:pending emq:{q}:active emq:{q}: 1000 2", `{"event":"active","job":"JOB0"} {"event":"active","job":"JOB1"}`},
		{"EMQ.EXTEND 2 emq:{q}:active emq:{q}:job:JOB1 JOB1 1 2000", ""},
		{"EMQ.FAIL 5 emq:{q}:active emq:{q}:schedule emq:{q}:dead emq:{q}:job:JOB1 emq:{q}: JOB1 1 60000 2 boom", `{"event":"scheduled","job":"JOB1","error":"boom"}`},
		{"EMQ.COMPLETE 3 emq:{q}:active emq:{q}:job:JOB0 emq:{q}: JOB0 1", `{"event":"completed","job":"JOB0"}`},
		{"EMQ.PROGRESS 2 emq:{q}:job:JOB1 emq:{q}:events JOB1 50", `{"event":"progress","job":"JOB1","progress":"50"}`},
		{"EMQ.REMOVE 6 emq:{q}:job:JOB1 emq:{q}:pending emq:{q}:active emq:{q}:schedule emq:{q}:dead emq:{q}:de: JOB1 \"\"", `{"event":"removed","job":"JOB1"}`},
		{"EMQ.PAUSE 1 emq:{q}:meta", `{"event":"paused","job":""}`},
		{"EMQ.PAUSE 1 emq:{q}:meta", ""},
		{"EMQ.RESUME 1 emq:{q}:meta", `{"event":"resumed","job":""}`},
		{"EMQ.FLOW.ADD 2 emq:{q}:job:JOB5 emq:{r}:job:JOB6 JOB5 p \"\" \"\" JOB6 p JOB5 fp", `{"event":"awaiting_children","job":"JOB5"}`},
		{"EMQ.CLAIM 3 emq:{r}:pending emq:{r}:active emq:{r}: 1000", ""},
		{"EMQ.FLOW.COMPLETE 4 emq:{r}:active emq:{r}:job:JOB6 emq:{r}: emq:{q}:job:JOB5 JOB6 1 r", `{"event":"pending","job":"JOB5"}`},
		{"MULTI", ""},
		{"EMQ.DRAIN 2 emq:{q}: emq:{q}:pending", ""},
		{"EMQ.GROUP.ENQUEUE 3 emq:{q}:job:JOB7 emq:{q}:g:x:pending emq:{q}: JOB7 p x", ""},
		{"EXEC", `{"event":"removed","job":"JOB5"} {"event":"pending","job":"JOB7"}`},
	} {
		require.NotContains(t, b.do(step.call), "-ERR", step.call)
		c.do("PUBLISH emq:{q}:events end")
		for _, want := range append(strings.Fields(step.events), "end") {
			require.Contains(t, a.next(), "\r\n"+want+"\r\n", step.call)
		}
	}
	b.do("EMQ.ENQUEUE 2 emq:{p}:job:JOB1 emq:{p}:pending JOB1 p")
	require.Contains(t, p.next(), `{"event":"pending","job":"JOB1"}`)
}
