// Command lanes is an example: it works the lanes of one EchoMQ queue, whose tenants take turns, with go-redis and plain
// commands. lanes.sh beside it does the same with redis-cli.
//
//	go run ./docs/examples/lanes 127.0.0.1:6390 mail
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// worker works the lanes of one queue. A job that fails is tried again after a pause of retry, three times in all.
type worker struct {
	redis        *redis.Client
	queue        string
	lease, retry time.Duration // a job must be done within its lease
	handle       func(tenant, id, payload string) error
}

// work claims jobs, one at a time, until ctx is done or the server is out of reach. The server gives the lanes their turns and
// keeps their limits, and while there is nothing to do the claim waits there.
func (w *worker) work(ctx context.Context) error {
	base := "emq:{" + w.queue + "}:"
	ring, active, schedule, dead := base+"ring", base+"active", base+"schedule", base+"dead"
	settle := context.WithoutCancel(ctx) // a job in hand is finished
	for ctx.Err() == nil {
		claim, err := w.redis.Do(ctx, "EMQ.GROUP.BCLAIM", 3, ring, active, base, w.lease.Milliseconds(), 1).Slice()
		if err != nil {
			return err
		}
		if len(claim) == 0 {
			continue
		}
		id, token := claim[0].(string), claim[2]
		payload, _ := claim[1].(string) // null when the row has none
		tenant, _ := claim[3].(string)
		row := base + "job:" + id
		if failure := w.handle(tenant, id, payload); failure == nil {
			err = w.redis.Do(settle, "EMQ.GROUP.COMPLETE", 3, active, row, base, id, token).Err()
		} else {
			err = w.redis.Do(settle, "EMQ.GROUP.FAIL", 5, active, schedule, dead, row, base,
				id, token, w.retry.Milliseconds(), 3, failure.Error()).Err()
		}
		if err != nil && !strings.HasPrefix(err.Error(), "EMQSTALE") { // stale: we were too slow, another has the job
			return err
		}
	}
	return nil
}

// mend makes the jobs claimable whose pause is over, and those of workers that have died. One process of all workers
// would be enough, and several do no harm.
func (w *worker) mend(ctx context.Context, every time.Duration) error {
	base := "emq:{" + w.queue + "}:"
	for tick := time.Tick(every); ctx.Err() == nil; {
		if err := w.redis.Do(ctx, "EMQ.GROUP.PROMOTE", 3, base+"schedule", base+"pending", base, 100).Err(); err != nil {
			return err
		}
		check := w.redis.Do(ctx, "EMQ.GROUP.STALLED.CHECK", 4, base+"active", base+"pending", base+"dead", base, 3, 100)
		if err := check.Err(); err != nil {
			return err
		}
		select {
		case <-tick:
		case <-ctx.Done():
		}
	}
	return nil
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: lanes address queue")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	w := &worker{
		redis: redis.NewClient(&redis.Options{Addr: os.Args[1]}), queue: os.Args[2], lease: 30 * time.Second, retry: time.Minute,
		handle: func(tenant, id, payload string) error {
			_, err := fmt.Println(tenant, id, payload)
			return err
		},
	}
	go func() {
		if err := w.mend(ctx, time.Second); err != nil && ctx.Err() == nil {
			fmt.Fprintln(os.Stderr, "lanes:", err)
		}
	}()
	if err := w.work(ctx); err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "lanes:", err)
		os.Exit(1)
	}
}
