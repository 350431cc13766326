package clients

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

func TestGoRedisPubSub(t *testing.T) {
	withGoRedis(t, func(t *testing.T, ctx context.Context, c *redis.Client) {
		sub := c.Subscribe(ctx, "news", "weather")
		defer func() { require.NoError(t, sub.Close()) }()
		for i, channel := range []string{"news", "weather"} {
			got := must(sub.Receive(ctx))(t)
			require.Equal(t, &redis.Subscription{Kind: "subscribe", Channel: channel, Count: i + 1}, got)
		}
		require.NoError(t, sub.PSubscribe(ctx, "new*"))
		require.Equal(t, &redis.Subscription{Kind: "psubscribe", Channel: "new*", Count: 3}, must(sub.Receive(ctx))(t))
		require.EqualValues(t, 2, must(c.Publish(ctx, "news", "hi").Result())(t))
		require.Equal(t, &redis.Message{Channel: "news", Payload: "hi"}, must(sub.Receive(ctx))(t))
		require.Equal(t, &redis.Message{Channel: "news", Pattern: "new*", Payload: "hi"}, must(sub.Receive(ctx))(t))
		require.NoError(t, sub.Ping(ctx, "there"))
		require.Equal(t, &redis.Pong{Payload: "there"}, must(sub.Receive(ctx))(t))
		require.Equal(t, map[string]int64{"news": 1, "none": 0}, must(c.PubSubNumSub(ctx, "news", "none").Result())(t))
		require.NoError(t, sub.Unsubscribe(ctx, "news"))
		require.Equal(t, &redis.Subscription{Kind: "unsubscribe", Channel: "news", Count: 2}, must(sub.Receive(ctx))(t))
		require.EqualValues(t, 1, must(c.Publish(ctx, "news", "again").Result())(t))
		require.Equal(t, "new*", must(sub.Receive(ctx))(t).(*redis.Message).Pattern)

		shard := c.SSubscribe(ctx, "s")
		defer func() { require.NoError(t, shard.Close()) }()
		require.Equal(t, "ssubscribe", must(shard.Receive(ctx))(t).(*redis.Subscription).Kind)
		require.EqualValues(t, 1, must(c.SPublish(ctx, "s", "m").Result())(t))
		require.Equal(t, "m", must(shard.Receive(ctx))(t).(*redis.Message).Payload)
	})
}

// TestGoRedisSubscriptionSurvives kills the connection of a subscriber, which connects again by itself.
func TestGoRedisSubscriptionSurvives(t *testing.T) {
	withGoRedis(t, func(t *testing.T, ctx context.Context, c *redis.Client) {
		sub := c.Subscribe(ctx, "news")
		defer func() { require.NoError(t, sub.Close()) }()
		must(sub.Receive(ctx))(t)
		messages := sub.Channel(redis.WithChannelHealthCheckInterval(50 * time.Millisecond))
		for round := range 3 {
			for must(c.Publish(ctx, "news", strconv.Itoa(round)).Result())(t) == 0 {
			}
			require.Equal(t, strconv.Itoa(round), (<-messages).Payload)
			require.EqualValues(t, 1, must(c.ClientKillByFilter(ctx, "TYPE", "pubsub").Result())(t))
		}
	})
}

func TestGoRedisBlocking(t *testing.T) {
	withGoRedis(t, func(t *testing.T, ctx context.Context, c *redis.Client) {
		blocked := func(n int) {
			want := "blocked_clients:" + strconv.Itoa(n) + "\r\n"
			for until := time.Now().Add(20 * time.Second); !strings.Contains(c.Info(ctx, "clients").Val(), want); {
				require.True(t, time.Now().Before(until), "never %s", want)
			}
		}
		got := make(chan []string, 1)
		wait := func(ctx context.Context, keys ...string) {
			go func() {
				v, err := c.BLPop(ctx, 0, keys...).Result()
				if err != nil {
					v = []string{err.Error()}
				}
				got <- v
			}()
			blocked(1)
		}
		wait(ctx, "a", "b")
		require.EqualValues(t, 1, must(c.RPush(ctx, "b", "x").Result())(t))
		require.Equal(t, []string{"b", "x"}, <-got)
		require.Zero(t, must(c.LLen(ctx, "b").Result())(t))
		require.Equal(t, redis.Nil, c.BLPop(ctx, time.Second, "a").Err())

		// Who cancels is gone, and pops nothing.
		canceled, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
		defer cancel()
		c2 := redis.NewClient(&redis.Options{Addr: c.Options().Addr, Protocol: c.Options().Protocol, ContextTimeoutEnabled: true, MaxRetries: -1})
		defer func() { require.NoError(t, c2.Close()) }()
		require.Error(t, c2.BLPop(canceled, 0, "a").Err())
		blocked(0)
		require.EqualValues(t, 1, must(c.RPush(ctx, "a", "kept").Result())(t))
		require.Equal(t, "kept", must(c.LPop(ctx, "a").Result())(t))

		require.NoError(t, c.ZAdd(ctx, "z", redis.Z{Score: 1.5, Member: "m"}).Err())
		popped := must(c.BZPopMin(ctx, 0, "none", "z").Result())(t)
		require.Equal(t, &redis.ZWithKey{Key: "z", Z: redis.Z{Score: 1.5, Member: "m"}}, popped)
	})
}

// TestGoRedisStreams covers what consumers do.
func TestGoRedisStreams(t *testing.T) {
	withGoRedis(t, func(t *testing.T, ctx context.Context, c *redis.Client) {
		require.NoError(t, c.XGroupCreateMkStream(ctx, "s", "g", "$").Err())
		require.ErrorContains(t, c.XGroupCreate(ctx, "s", "g", "$").Err(), "BUSYGROUP")
		for i, id := range []string{"1-1", "1-2", "2-0"} {
			require.Equal(t, id, must(c.XAdd(ctx, &redis.XAddArgs{Stream: "s", ID: id, Values: []any{"n", i}}).Result())(t))
		}
		require.ErrorContains(t, c.XAdd(ctx, &redis.XAddArgs{Stream: "s", ID: "1-1", Values: []any{"n", 1}}).Err(), "equal or smaller")
		require.Equal(t, []redis.XMessage{{ID: "1-2", Values: map[string]any{"n": "1"}}}, must(c.XRange(ctx, "s", "1-2", "1-2").Result())(t))
		read := func(id string, block time.Duration) []redis.XStream {
			got, err := c.XReadGroup(ctx, &redis.XReadGroupArgs{Group: "g", Consumer: "c", Streams: []string{"s", id}, Count: 2, Block: block}).Result()
			if err != redis.Nil {
				require.NoError(t, err)
			}
			return got
		}
		first := read(">", -1)
		require.Equal(t, "s", first[0].Stream)
		require.Equal(t, []string{"1-1", "1-2"}, []string{first[0].Messages[0].ID, first[0].Messages[1].ID})
		require.Equal(t, "2-0", read(">", -1)[0].Messages[0].ID)
		require.Nil(t, read(">", 10*time.Millisecond))
		require.EqualValues(t, 1, must(c.XAck(ctx, "s", "g", "1-1").Result())(t))
		require.Equal(t, "1-2", read("0", -1)[0].Messages[0].ID)
		pending := must(c.XPending(ctx, "s", "g").Result())(t)
		require.Equal(t, &redis.XPending{Count: 2, Lower: "1-2", Higher: "2-0", Consumers: map[string]int64{"c": 2}}, pending)
		claimed, next, err := c.XAutoClaim(ctx, &redis.XAutoClaimArgs{Stream: "s", Group: "g", Consumer: "d", Start: "0", Count: 10}).Result()
		require.NoError(t, err)
		require.Equal(t, "0-0", next)
		require.Len(t, claimed, 2)
		require.EqualValues(t, 3, must(c.XLen(ctx, "s").Result())(t))
		groups := must(c.XInfoGroups(ctx, "s").Result())(t)
		require.EqualValues(t, 2, groups[0].Consumers)
		require.EqualValues(t, 2, groups[0].Pending)
	})
}
