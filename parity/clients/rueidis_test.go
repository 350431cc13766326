package clients

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/parity/node"
)

// openRueidis connects to n and closes the client when the test ends.
func openRueidis(t testing.TB, n *node.Node, change ...func(*rueidis.ClientOption)) rueidis.Client {
	t.Helper()
	o := rueidis.ClientOption{InitAddress: []string{n.Addr}, ClientName: "tester"}
	for _, f := range change {
		f(&o)
	}
	c, err := rueidis.NewClient(o)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

func withoutCache(o *rueidis.ClientOption) { o.DisableCache = true }

func resp2(o *rueidis.ClientOption) { o.DisableCache, o.AlwaysRESP2 = true, true }

// withRueidis runs a test with each kind of client and a node of its own.
func withRueidis(t *testing.T, test func(t *testing.T, ctx context.Context, c rueidis.Client)) {
	for name, change := range map[string]func(*rueidis.ClientOption){
		"cached": func(*rueidis.ClientOption) {}, "uncached": withoutCache, "RESP2": resp2,
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			test(t, ctx, openRueidis(t, node.Start(t), change))
		})
	}
}

func TestRueidisCommands(t *testing.T) {
	withRueidis(t, func(t *testing.T, ctx context.Context, c rueidis.Client) {
		b := c.B()
		require.NoError(t, c.Do(ctx, b.Set().Key("k").Value("v").Ex(time.Hour).Build()).Error())
		require.Equal(t, "v", must(c.Do(ctx, b.Get().Key("k").Build()).ToString())(t))
		require.True(t, rueidis.IsRedisNil(c.Do(ctx, b.Get().Key("none").Build()).Error()))
		require.True(t, rueidis.IsRedisNil(c.Do(ctx, b.Set().Key("k").Value("w").Nx().Build()).Error()))
		require.EqualValues(t, 3600, must(c.Do(ctx, b.Ttl().Key("k").Build()).AsInt64())(t))
		require.EqualValues(t, 2, must(c.Do(ctx, b.Hset().Key("h").FieldValue().FieldValue("a", "1").FieldValue("b", "2").Build()).AsInt64())(t))
		require.Equal(t, map[string]string{"a": "1", "b": "2"}, must(c.Do(ctx, b.Hgetall().Key("h").Build()).AsStrMap())(t))
		require.Empty(t, must(c.Do(ctx, b.Hgetall().Key("none").Build()).AsStrMap())(t))
		require.EqualValues(t, 2, must(c.Do(ctx, b.Zadd().Key("z").ScoreMember().ScoreMember(1.5, "a").ScoreMember(2, "b").Build()).AsInt64())(t))
		require.Equal(t, 1.5, must(c.Do(ctx, b.Zscore().Key("z").Member("a").Build()).AsFloat64())(t))
		require.True(t, rueidis.IsRedisNil(c.Do(ctx, b.Zscore().Key("z").Member("none").Build()).Error()))
		scores := must(c.Do(ctx, b.Zrange().Key("z").Min("0").Max("-1").Withscores().Build()).AsZScores())(t)
		require.Equal(t, []rueidis.ZScore{{Member: "a", Score: 1.5}, {Member: "b", Score: 2}}, scores)
		require.Equal(t, rueidis.ZScore{Member: "a", Score: 1.5}, must(c.Do(ctx, b.Zpopmin().Key("z").Build()).AsZScore())(t))
		require.EqualValues(t, 3, must(c.Do(ctx, b.Rpush().Key("l").Element("x", "y", "z").Build()).AsInt64())(t))
		require.Equal(t, []string{"x", "y", "z"}, must(c.Do(ctx, b.Lrange().Key("l").Start(0).Stop(-1).Build()).AsStrSlice())(t))
		popped := must(c.Do(ctx, b.Lmpop().Numkeys(1).Key("l").Left().Count(2).Build()).AsLMPop())(t)
		require.Equal(t, rueidis.KeyValues{Key: "l", Values: []string{"x", "y"}}, popped)
		require.True(t, rueidis.IsRedisNil(c.Do(ctx, b.Lmpop().Numkeys(1).Key("none").Left().Build()).Error()))
		require.EqualValues(t, 2, must(c.Do(ctx, b.Sadd().Key("s").Member("a", "b").Build()).AsInt64())(t))
		require.ElementsMatch(t, []string{"a", "b"}, must(c.Do(ctx, b.Smembers().Key("s").Build()).AsStrSlice())(t))
		require.True(t, must(c.Do(ctx, b.Sismember().Key("s").Member("a").Build()).AsBool())(t))
		wrong, ok := rueidis.IsRedisErr(c.Do(ctx, b.Incr().Key("h").Build()).Error())
		require.True(t, ok)
		require.True(t, strings.HasPrefix(wrong.Error(), "WRONGTYPE"))
		seen := map[string]bool{}
		for cursor := uint64(0); ; {
			page := must(c.Do(ctx, b.Scan().Cursor(cursor).Count(2).Build()).AsScanEntry())(t)
			for _, key := range page.Elements {
				seen[key] = true
			}
			if cursor = page.Cursor; cursor == 0 {
				break
			}
		}
		require.Equal(t, map[string]bool{"k": true, "h": true, "z": true, "l": true, "s": true}, seen)
		values := must(rueidis.MGet(c, ctx, []string{"k", "none"}))(t)
		require.Equal(t, "v", must(func() (string, error) { v := values["k"]; return v.ToString() }())(t))
		none := values["none"]
		require.True(t, none.IsNil())
	})
}

// TestRueidisPipelinesByItself sends from a hundred goroutines over one connection.
func TestRueidisPipelinesByItself(t *testing.T) {
	withRueidis(t, func(t *testing.T, ctx context.Context, c rueidis.Client) {
		var all sync.WaitGroup
		for g := range 100 {
			all.Go(func() {
				for i := range 50 {
					key, want := fmt.Sprint("own:", g), strconv.Itoa(i)
					replies := c.DoMulti(ctx, c.B().Set().Key(key).Value(want).Build(), c.B().Get().Key(key).Build(), c.B().Incr().Key("shared").Build())
					if got, err := replies[1].ToString(); err != nil || got != want {
						t.Errorf("%q, %v instead of %q", got, err, want)
					}
				}
			})
		}
		all.Wait()
		require.Equal(t, "5000", must(c.Do(ctx, c.B().Get().Key("shared").Build()).ToString())(t))
	})
}

func TestRueidisDedicated(t *testing.T) {
	withRueidis(t, func(t *testing.T, ctx context.Context, c rueidis.Client) {
		err := c.Dedicated(func(d rueidis.DedicatedClient) error {
			b := d.B()
			try := func(steal bool) (rueidis.RedisResult, error) {
				if err := d.Do(ctx, b.Watch().Key("k").Build()).Error(); err != nil {
					return rueidis.RedisResult{}, err
				}
				if steal {
					require.NoError(t, c.Do(ctx, c.B().Set().Key("k").Value("stolen").Build()).Error())
				}
				replies := d.DoMulti(ctx, b.Multi().Build(), b.Set().Key("k").Value("mine").Build(), b.Get().Key("k").Build(), b.Exec().Build())
				return replies[3], nil
			}
			lost, err := try(true)
			require.NoError(t, err)
			require.True(t, rueidis.IsRedisNil(lost.Error()))
			won, err := try(false)
			require.NoError(t, err)
			require.Equal(t, []string{"OK", "mine"}, must(won.AsStrSlice())(t))
			return nil
		})
		require.NoError(t, err)
		got := make(chan rueidis.KeyValues, 1)
		go func() {
			v, err := c.Do(ctx, c.B().Blmpop().Timeout(0).Numkeys(1).Key("q").Left().Build()).AsLMPop()
			if err != nil {
				t.Error(err)
			}
			got <- v
		}()
		require.NoError(t, c.Do(ctx, c.B().Rpush().Key("q").Element("x").Build()).Error())
		require.Equal(t, rueidis.KeyValues{Key: "q", Values: []string{"x"}}, <-got)
		require.True(t, rueidis.IsRedisNil(c.Do(ctx, c.B().Blpop().Key("q").Timeout(0.01).Build()).Error()))
	})
}

func TestRueidisPubSub(t *testing.T) {
	withRueidis(t, func(t *testing.T, ctx context.Context, c rueidis.Client) {
		for channel, subscribe := range map[string]rueidis.Completed{
			"news": c.B().Subscribe().Channel("news").Build(), "weather": c.B().Psubscribe().Pattern("w?ather").Build(),
		} {
			ctx, cancel := context.WithCancel(ctx)
			got, done := make(chan rueidis.PubSubMessage, 16), make(chan error, 1)
			go func() { done <- c.Receive(ctx, subscribe, func(m rueidis.PubSubMessage) { got <- m }) }()
			for must(c.Do(ctx, c.B().Publish().Channel(channel).Message("hi").Build()).AsInt64())(t) == 0 {
			}
			m := <-got
			require.Equal(t, channel, m.Channel)
			require.Equal(t, "hi", m.Message)
			cancel()
			require.ErrorIs(t, <-done, context.Canceled)
		}
	})
}

// TestRueidisCachesOnItsSide reads through the client's cache, which the server invalidates.
func TestRueidisCachesOnItsSide(t *testing.T) {
	ctx := context.Background()
	n := node.Start(t)
	invalidated := make(chan []string, 1024)
	c := openRueidis(t, n, func(o *rueidis.ClientOption) {
		o.PipelineMultiplex = -1 // one connection
		o.OnInvalidations = func(messages []rueidis.RedisMessage) {
			var keys []string
			for _, m := range messages {
				key, err := m.ToString()
				if err != nil {
					t.Error(err)
				}
				keys = append(keys, key)
			}
			invalidated <- keys
		}
	})
	other := n.Dial()
	other.Want("SET k 1", "+OK")
	get := func() rueidis.RedisResult {
		return c.DoCache(ctx, c.B().Get().Key("k").Cache(), time.Hour)
	}
	require.Equal(t, "1", must(get().ToString())(t))
	require.False(t, func() bool { r := c.DoCache(ctx, c.B().Get().Key("none").Cache(), time.Hour); return r.IsCacheHit() }())
	again := get()
	require.True(t, again.IsCacheHit())
	require.Equal(t, "1", must(again.ToString())(t))
	for i := 2; i < 50; i++ {
		other.Want("SET k "+strconv.Itoa(i), "+OK")
		require.Equal(t, []string{"k"}, <-invalidated)
		fresh := get()
		require.False(t, fresh.IsCacheHit())
		require.Equal(t, strconv.Itoa(i), must(fresh.ToString())(t))
	}
	other.Want("HSET h f v", ":1")
	hash := func() rueidis.RedisResult { return c.DoCache(ctx, c.B().Hgetall().Key("h").Cache(), time.Hour) }
	require.Equal(t, map[string]string{"f": "v"}, must(hash().AsStrMap())(t))
	other.Want("PEXPIRE h 1", ":1")
	require.Equal(t, []string{"h"}, <-invalidated)
	for other.Do("EXISTS h") == ":1" {
	}
	require.Empty(t, must(hash().AsStrMap())(t))
	many := must(rueidis.MGetCache(c, ctx, time.Hour, []string{"k", "none", "h2"}))(t)
	require.Equal(t, "49", must(func() (string, error) { v := many["k"]; return v.ToString() }())(t))
	other.Want("FLUSHALL", "+OK")
	require.Empty(t, <-invalidated, "everything")
	flushed := get()
	require.True(t, rueidis.IsRedisNil(flushed.Error()))
	require.False(t, flushed.IsCacheHit())
	require.Contains(t, other.Do("CLIENT LIST"), " flags=t ")
}

// TestRueidisFollowsPrefixes subscribes to invalidations by prefix.
func TestRueidisFollowsPrefixes(t *testing.T) {
	n := node.Start(t)
	invalidated := make(chan string, 16)
	openRueidis(t, n, func(o *rueidis.ClientOption) {
		o.ClientTrackingOptions = []string{"PREFIX", "emq:", "BCAST"}
		o.OnInvalidations = func(messages []rueidis.RedisMessage) {
			for _, m := range messages {
				key, err := m.ToString()
				if err != nil {
					t.Error(err)
				}
				invalidated <- key
			}
		}
	})
	other := n.Dial()
	other.Want("MSET emq:a 1 other 2", "+OK")
	require.Equal(t, "emq:a", <-invalidated)
}
