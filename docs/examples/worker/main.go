// Command worker is an example: it works the jobs of one EchoMQ queue, with go-redis and plain commands.
//
//	go run ./docs/examples/worker 127.0.0.1:6390 default
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

// worker works one queue. A job that fails is tried again after a pause of retry, three times in all.
type worker struct {
	redis        *redis.Client
	queue        string
	lease, retry time.Duration
	handle       func(id, payload string) error
}

// work claims jobs, one at a time, until ctx is done or the server is out of reach.
func (w *worker) work(ctx context.Context) error {
	base := "emq:{" + w.queue + "}:"
	pending, active, schedule, dead := base+"pending", base+"active", base+"schedule", base+"dead"
	settle := context.WithoutCancel(ctx) // a job in hand is finished
	for ctx.Err() == nil {
		claim, err := w.redis.Do(ctx, "EMQ.CLAIM", 3, pending, active, base, w.lease.Milliseconds()).Slice()
		switch {
		case err != nil:
			return err
		case len(claim) == 0:
			time.Sleep(20 * time.Millisecond)
			continue
		}
		id, token := claim[0].(string), claim[2]
		payload, _ := claim[1].(string) // null when the row has none
		row, done := base+"job:"+id, make(chan error, 1)
		go func() { done <- w.handle(id, payload) }()
		extend := time.NewTicker(w.lease / 3)
		for running := true; running; {
			select {
			case <-extend.C: // the token shows that the lease is still ours
				err = w.redis.Do(settle, "EMQ.EXTEND", 2, active, row, id, token, w.lease.Milliseconds()).Err()
			case failure := <-done:
				running = false
				if failure == nil {
					err = w.redis.Do(settle, "EMQ.COMPLETE", 3, active, row, base, id, token).Err()
				} else {
					err = w.redis.Do(settle, "EMQ.FAIL", 5, active, schedule, dead, row, base,
						id, token, w.retry.Milliseconds(), 3, failure.Error()).Err()
				}
			}
		}
		extend.Stop()
		if err != nil && !strings.HasPrefix(err.Error(), "EMQSTALE") { // stale: we were too slow, another has the job
			return err
		}
	}
	return nil
}

// mend gives the jobs of workers that have died to others, and makes those claimable whose pause is over. One
// process of all workers would be enough, and several do no harm.
func (w *worker) mend(ctx context.Context) error {
	base := "emq:{" + w.queue + "}:"
	for every := time.Tick(w.lease / 10); ctx.Err() == nil; {
		if err := w.redis.Do(ctx, "EMQ.PROMOTE", 3, base+"schedule", base+"pending", base, 100).Err(); err != nil {
			return err
		}
		check := w.redis.Do(ctx, "EMQ.STALLED.CHECK", 4, base+"active", base+"pending", base+"dead", base, 3, 100)
		if err := check.Err(); err != nil {
			return err
		}
		select {
		case <-every:
		case <-ctx.Done():
		}
	}
	return nil
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: worker address queue")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	w := &worker{
		redis: redis.NewClient(&redis.Options{Addr: os.Args[1]}), queue: os.Args[2], lease: 30 * time.Second, retry: time.Minute,
		handle: func(id, payload string) error {
			_, err := fmt.Println(id, payload)
			return err
		},
	}
	go func() {
		if err := w.mend(ctx); err != nil && ctx.Err() == nil {
			fmt.Fprintln(os.Stderr, "worker:", err)
		}
	}()
	if err := w.work(ctx); err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "worker:", err)
		os.Exit(1)
	}
}
