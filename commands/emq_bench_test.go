package commands_test

import (
	"fmt"
	"testing"
)

// BenchmarkEMQCycle measures a job's ordinary life (enqueue, claim, complete) beside a number of other pending jobs.
func BenchmarkEMQCycle(b *testing.B) {
	for _, others := range []int{0, 100_000} {
		b.Run(fmt.Sprint(others), func(b *testing.B) {
			n := newNode(b)
			for i := range others {
				n.enqueue(fmt.Sprintf("JOBx%06d", i))
			}
			calls := [][][]byte{
				words("EMQ.ENQUEUE 2 emq:{q}:job:JOB0NgWEfAEJfs emq:{q}:pending JOB0NgWEfAEJfs payload"),
				words("EMQ.CLAIM 3 emq:{q}:pending emq:{q}:active emq:{q}: 30000"),
				words("EMQ.COMPLETE 3 emq:{q}:active emq:{q}:job:JOB0NgWEfAEJfs emq:{q}: JOB0NgWEfAEJfs 1"),
			}
			b.ReportAllocs()
			for b.Loop() {
				for _, call := range calls {
					n.run(call)
					n.call.Tx.Commit()
				}
			}
			if got := string(n.reply.Bytes()); got != ":1\r\n" {
				b.Fatal(got)
			}
		})
	}
}
