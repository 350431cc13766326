// Command flow is an example: a report that waits for its three parts, which workers of another queue make.
//
//	go run ./docs/examples/flow 127.0.0.1:6390 2026-11
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/redis/go-redis/v9"
)

// The queues: reports wait for parts.
const (
	reports = "emq:{reports}:"
	parts   = "emq:{parts}:"
)

const leaseMS = 30_000

// flow adds the reports of a shop and works them.
type flow struct {
	redis *redis.Client
	make  func(payload string) (result string, err error) // makes one part
	out   io.Writer
}

// add adds the report of a month and its parts in one step. Two parts must be there, the third may fail.
func (f *flow) add(ctx context.Context, month string) error {
	root := "JOBreport" + month
	keys := []any{reports + "job:" + root}
	nodes := []any{root, "report " + month, "", ""}
	for part, policy := range map[string]string{"sales": "fp", "stock": "fp", "weather": "id"} {
		id := "JOB" + part + month
		keys = append(keys, parts+"job:"+id)
		nodes = append(nodes, id, part+" "+month, root, policy)
	}
	call := append(append([]any{"EMQ.FLOW.ADD", len(keys)}, keys...), nodes...)
	return f.redis.Do(ctx, call...).Err()
}

// claim takes a job of the queue; the id is empty when there is none.
func (f *flow) claim(ctx context.Context, base string) (id, payload, token string, err error) {
	job, err := f.redis.Do(ctx, "EMQ.CLAIM", 3, base+"pending", base+"active", base, leaseMS).Slice()
	if err != nil || len(job) == 0 {
		return "", "", "", err
	}
	payload, _ = job[1].(string) // null when the row has none
	return job[0].(string), payload, fmt.Sprint(job[2]), nil
}

// workParts makes parts until there are none. The row of a part tells its parent, whose key the settling verb wants
// to have declared: it writes to no other.
func (f *flow) workParts(ctx context.Context) error {
	for {
		id, payload, token, err := f.claim(ctx, parts)
		if err != nil || id == "" {
			return err
		}
		row := parts + "job:" + id
		link, err := f.redis.HMGet(ctx, row, "parent_queue", "parent").Result()
		if err != nil {
			return err
		}
		parent := fmt.Sprintf("emq:{%s}:job:%s", link[0], link[1])
		if result, failure := f.make(payload); failure == nil {
			err = f.redis.Do(ctx, "EMQ.FLOW.COMPLETE", 4, parts+"active", row, parts, parent, id, token, result).Err()
		} else {
			err = f.redis.Do(ctx, "EMQ.FLOW.FAIL", 6, parts+"active", parts+"schedule", parts+"dead", row, parts, parent,
				id, token, 1000, 1, failure.Error()).Err()
		}
		if err != nil && !strings.HasPrefix(err.Error(), "EMQSTALE") {
			return err
		}
	}
}

// deliver takes the signals of parts that ended without their parent's key, such as those an operator removed, to the
// parents. A crash between the two steps loses nothing: delivering comes first, and twice is no fault.
func (f *flow) deliver(ctx context.Context) error {
	for {
		signal, err := f.redis.LIndex(ctx, parts+"flow:outbox", 0).Result()
		if errors.Is(err, redis.Nil) {
			return nil
		}
		if err != nil {
			return err
		}
		if p := strings.SplitN(signal, "\x00", 7); len(p) == 7 && p[0] == "" && p[1] == "fail" {
			base := "emq:{" + p[2] + "}:"
			if err := f.redis.Do(ctx, "EMQ.FLOW.FAILDELIVER", 2, base+"job:"+p[3], base, p[4], p[6], p[5]).Err(); err != nil {
				return err
			}
		}
		if err := f.redis.LRem(ctx, parts+"flow:outbox", 1, signal).Err(); err != nil {
			return err
		}
	}
}

// workReports prints the reports whose parts are there.
func (f *flow) workReports(ctx context.Context) error {
	for {
		id, payload, token, err := f.claim(ctx, reports)
		if err != nil || id == "" {
			return err
		}
		row := reports + "job:" + id
		made, err := f.redis.HGetAll(ctx, row+":processed").Result()
		if err != nil {
			return err
		}
		missing, err := f.redis.HGetAll(ctx, row+":unsuccessful").Result()
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(f.out, payload, "made:", made, "missing:", missing); err != nil {
			return err
		}
		if err := f.redis.Do(ctx, "EMQ.COMPLETE", 3, reports+"active", row, reports, id, token).Err(); err != nil {
			return err
		}
	}
}

// run adds a report and works until nothing is left to do.
func (f *flow) run(ctx context.Context, month string) error {
	if err := f.add(ctx, month); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{f.workParts, f.deliver, f.workReports} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: flow address month")
		os.Exit(2)
	}
	f := &flow{
		redis: redis.NewClient(&redis.Options{Addr: os.Args[1]}), out: os.Stdout,
		make: func(payload string) (string, error) { return strings.ToUpper(payload), nil },
	}
	if err := f.run(context.Background(), os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "flow:", err)
		os.Exit(1)
	}
}
