package clients

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/parity/node"
	"github.com/echomq/emqd/server"
)

// withGoRedis runs a test with a go-redis client of each protocol version and a node of its own.
func withGoRedis(t *testing.T, test func(t *testing.T, ctx context.Context, c *redis.Client)) {
	for _, proto := range []int{2, 3} {
		t.Run(fmt.Sprintf("RESP%d", proto), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			c := redis.NewClient(&redis.Options{Addr: node.Start(t).Addr, Protocol: proto})
			defer func() { require.NoError(t, c.Close()) }()
			test(t, ctx, c)
		})
	}
}

// must returns the value of a command that succeeded.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		require.NoError(t, err)
		return v
	}
}

func TestGoRedisConnects(t *testing.T) {
	ctx := context.Background()
	n := node.Start(t, func(c *server.Config) { c.RequirePass = "secret" })
	for _, proto := range []int{2, 3} {
		c := redis.NewClient(&redis.Options{
			Addr: n.Addr, Protocol: proto, Password: "secret", DB: 3, ClientName: "tester",
			MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeAuto},
		})
		require.Equal(t, "PONG", must(c.Ping(ctx).Result())(t))
		info := must(c.ClientInfo(ctx).Result())(t)
		require.Equal(t, "tester", info.Name)
		require.Equal(t, 3, info.DB)
		require.Equal(t, proto, info.Resp)
		require.Equal(t, "default", info.User)
		require.True(t, strings.HasPrefix(info.LibName, "go-redis"), info.LibName)
		require.NotEmpty(t, info.LibVer)
		require.NoError(t, c.Close())
		c = redis.NewClient(&redis.Options{Addr: n.Addr, Protocol: proto, Password: "wrong"})
		require.ErrorContains(t, c.Ping(ctx).Err(), "WRONGPASS")
		require.NoError(t, c.Close())
		c = redis.NewClient(&redis.Options{Addr: n.Addr, Protocol: proto})
		require.ErrorContains(t, c.Ping(ctx).Err(), "NOAUTH")
		require.NoError(t, c.Close())
	}
}

func TestMaintNotificationsIsAnOrdinaryError(t *testing.T) {
	ctx := context.Background()
	n := node.Start(t)
	raw := n.Dial()
	raw.Send("CLIENT MAINT_NOTIFICATIONS ON moving-endpoint-type internal-ip", "PING")
	require.True(t, strings.HasPrefix(raw.Bytes(), "-ERR unknown subcommand 'MAINT_NOTIFICATIONS'"))
	require.Equal(t, "+PONG", raw.Next())
	c := redis.NewClient(&redis.Options{
		Addr: n.Addr, Protocol: 3, MaxRetries: -1,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeEnabled},
	})
	require.ErrorContains(t, c.Ping(ctx).Err(), "unknown subcommand")
	require.NoError(t, c.Close())
}

func TestGoRedisStrings(t *testing.T) {
	withGoRedis(t, func(t *testing.T, ctx context.Context, c *redis.Client) {
		require.Equal(t, redis.Nil, c.Get(ctx, "none").Err())
		require.Equal(t, "OK", must(c.Set(ctx, "k", "v", time.Hour).Result())(t))
		require.Equal(t, "v", must(c.Get(ctx, "k").Result())(t))
		require.InDelta(t, time.Hour, must(c.TTL(ctx, "k").Result())(t), float64(time.Minute))
		require.False(t, must(c.SetNX(ctx, "k", "w", time.Second).Result())(t))
		require.True(t, must(c.SetXX(ctx, "k", "w", redis.KeepTTL).Result())(t))
		require.Equal(t, "w", must(c.SetArgs(ctx, "k", "x", redis.SetArgs{Get: true}).Result())(t))
		require.Equal(t, redis.Nil, c.SetArgs(ctx, "k", "y", redis.SetArgs{Mode: "NX"}).Err())
		require.Equal(t, time.Duration(-1), must(c.TTL(ctx, "k").Result())(t))
		require.Equal(t, "x", must(c.GetEx(ctx, "k", time.Minute).Result())(t))
		require.Equal(t, "x", must(c.GetDel(ctx, "k").Result())(t))
		require.Equal(t, time.Duration(-2), must(c.TTL(ctx, "k").Result())(t))
		require.EqualValues(t, 41, must(c.IncrBy(ctx, "n", 41).Result())(t))
		require.EqualValues(t, 42, must(c.Incr(ctx, "n").Result())(t))
		require.Equal(t, 42.5, must(c.IncrByFloat(ctx, "n", 0.5).Result())(t))
		require.ErrorContains(t, c.Incr(ctx, "n").Err(), "ERR value is not an integer or out of range")
		require.Equal(t, "OK", must(c.MSet(ctx, "a", 1, "b", "zwei").Result())(t))
		require.Equal(t, []any{"1", nil, "zwei"}, must(c.MGet(ctx, "a", "none", "b").Result())(t))
		require.EqualValues(t, 7, must(c.Append(ctx, "b", "und").Result())(t))
		require.Equal(t, "zwei", must(c.GetRange(ctx, "b", 0, 3).Result())(t))
		require.EqualValues(t, 0, must(c.SetBit(ctx, "bits", 7, 1).Result())(t))
		require.EqualValues(t, 1, must(c.BitCount(ctx, "bits", nil).Result())(t))
	})
}

func TestGoRedisKeys(t *testing.T) {
	withGoRedis(t, func(t *testing.T, ctx context.Context, c *redis.Client) {
		pipe := c.Pipeline()
		for i := range 1000 {
			pipe.Set(ctx, fmt.Sprintf("key:%d", i), i, 0)
			pipe.SAdd(ctx, "set", i)
			pipe.HSet(ctx, "hash", i, i*i)
			pipe.ZAdd(ctx, "zset", redis.Z{Score: float64(i), Member: i})
		}
		require.Len(t, must(pipe.Exec(ctx))(t), 4000)
		require.EqualValues(t, 1003, must(c.DBSize(ctx).Result())(t))
		seen := map[string]bool{}
		for it := c.Scan(ctx, 0, "key:*", 100).Iterator(); it.Next(ctx); {
			seen[it.Val()] = true
		}
		require.Len(t, seen, 1000)
		for it := c.ScanType(ctx, 0, "*", 100, "zset").Iterator(); it.Next(ctx); {
			require.Equal(t, "zset", it.Val())
		}
		for name, iterate := range map[string]*redis.ScanIterator{
			"set": c.SScan(ctx, "set", 0, "", 10).Iterator(), "hash": c.HScan(ctx, "hash", 0, "", 10).Iterator(),
			"zset": c.ZScan(ctx, "zset", 0, "", 10).Iterator(),
		} {
			n := 0
			for iterate.Next(ctx) {
				n++
			}
			require.NoError(t, iterate.Err())
			require.Equal(t, map[string]int{"set": 1000, "hash": 2000, "zset": 2000}[name], n, name)
		}
		require.Len(t, must(c.Keys(ctx, "key:99?").Result())(t), 10)
		require.EqualValues(t, 2, must(c.Exists(ctx, "key:1", "key:2", "none").Result())(t))
		require.EqualValues(t, 2, must(c.Del(ctx, "key:1", "key:2", "none").Result())(t))
		require.EqualValues(t, 1, must(c.Unlink(ctx, "key:3").Result())(t))
		require.Equal(t, "hash", must(c.Type(ctx, "hash").Result())(t))
		require.Equal(t, "none", must(c.Type(ctx, "none").Result())(t))
		require.True(t, must(c.Expire(ctx, "hash", time.Hour).Result())(t))
		require.True(t, must(c.Persist(ctx, "hash").Result())(t))
		require.Equal(t, "OK", must(c.Rename(ctx, "key:4", "renamed").Result())(t))
		require.ErrorContains(t, c.Rename(ctx, "none", "x").Err(), "ERR no such key")
		require.EqualValues(t, 1, must(c.Copy(ctx, "renamed", "copied", 0, false).Result())(t))
		dump := must(c.Dump(ctx, "set").Result())(t)
		require.Equal(t, "OK", must(c.Restore(ctx, "set2", 0, dump).Result())(t))
		require.Len(t, must(c.SInter(ctx, "set", "set2").Result())(t), 1000)
		require.Equal(t, "hashtable", must(c.ObjectEncoding(ctx, "hash").Result())(t))
		require.Positive(t, must(c.MemoryUsage(ctx, "hash").Result())(t))
		require.Equal(t, "OK", must(c.FlushDB(ctx).Result())(t))
		require.Zero(t, must(c.DBSize(ctx).Result())(t))
	})
}

func TestGoRedisCollections(t *testing.T) {
	withGoRedis(t, func(t *testing.T, ctx context.Context, c *redis.Client) {
		require.EqualValues(t, 2, must(c.HSet(ctx, "h", "a", 1, "b", "two").Result())(t))
		require.Equal(t, map[string]string{"a": "1", "b": "two"}, must(c.HGetAll(ctx, "h").Result())(t))
		require.Empty(t, must(c.HGetAll(ctx, "none").Result())(t))
		require.Equal(t, []any{"1", nil}, must(c.HMGet(ctx, "h", "a", "z").Result())(t))
		require.Equal(t, 2.5, must(c.HIncrByFloat(ctx, "h", "a", 1.5).Result())(t))
		require.Equal(t, []int64{1, -2}, must(c.HExpire(ctx, "h", time.Hour, "a", "z").Result())(t))
		require.Equal(t, []int64{3600, -1}, must(c.HTTL(ctx, "h", "a", "b").Result())(t))
		require.Len(t, must(c.HRandFieldWithValues(ctx, "h", 2).Result())(t), 2)
		require.ErrorContains(t, c.LPush(ctx, "h", 1).Err(), "WRONGTYPE")

		require.EqualValues(t, 4, must(c.RPush(ctx, "l", "a", "b", "c", "d").Result())(t))
		require.Equal(t, []string{"a", "b", "c", "d"}, must(c.LRange(ctx, "l", 0, -1).Result())(t))
		require.Equal(t, []string{"d", "c"}, must(c.RPopCount(ctx, "l", 2).Result())(t))
		require.EqualValues(t, 1, must(c.LPos(ctx, "l", "b", redis.LPosArgs{}).Result())(t))
		require.Equal(t, "a", must(c.LMove(ctx, "l", "m", "left", "right").Result())(t))
		key, values, err := c.LMPop(ctx, "left", 5, "none", "l").Result()
		require.NoError(t, err)
		require.Equal(t, "l", key)
		require.Equal(t, []string{"b"}, values)

		require.EqualValues(t, 3, must(c.SAdd(ctx, "s", "a", "b", "c").Result())(t))
		require.ElementsMatch(t, []string{"a", "b", "c"}, must(c.SMembers(ctx, "s").Result())(t))
		require.Equal(t, []bool{true, false}, must(c.SMIsMember(ctx, "s", "a", "z").Result())(t))
		require.Equal(t, map[string]struct{}{"a": {}, "b": {}, "c": {}}, must(c.SMembersMap(ctx, "s").Result())(t))
		require.Len(t, must(c.SPopN(ctx, "s", 2).Result())(t), 2)

		added := must(c.ZAddArgs(ctx, "z", redis.ZAddArgs{GT: true, Ch: true, Members: []redis.Z{{Score: 1.1, Member: "a"}, {Score: 2, Member: "b"}}}).Result())(t)
		require.EqualValues(t, 2, added)
		require.Equal(t, 1.1, must(c.ZScore(ctx, "z", "a").Result())(t))
		require.Equal(t, redis.Nil, c.ZScore(ctx, "z", "none").Err())
		require.Equal(t, []redis.Z{{Score: 2, Member: "b"}, {Score: 1.1, Member: "a"}}, must(c.ZRevRangeWithScores(ctx, "z", 0, -1).Result())(t))
		require.Equal(t, []string{"a"}, must(c.ZRangeArgs(ctx, redis.ZRangeArgs{Key: "z", Start: "-inf", Stop: "(2", ByScore: true}).Result())(t))
		rank := must(c.ZRankWithScore(ctx, "z", "b").Result())(t)
		require.Equal(t, redis.RankScore{Rank: 1, Score: 2}, rank)
		require.Equal(t, []float64{1.1, 0, 2}, must(c.ZMScore(ctx, "z", "a", "none", "b").Result())(t))
		require.Equal(t, 3.5, must(c.ZIncrBy(ctx, "z", 1.5, "b").Result())(t))
		require.Equal(t, []redis.Z{{Score: 1.1, Member: "a"}}, must(c.ZPopMin(ctx, "z").Result())(t))
		require.Equal(t, []redis.Z{{Score: 3.5, Member: "b"}}, must(c.ZPopMax(ctx, "z", 5).Result())(t))
	})
}

func TestGoRedisTransactions(t *testing.T) {
	withGoRedis(t, func(t *testing.T, ctx context.Context, c *redis.Client) {
		cmds, err := c.TxPipelined(ctx, func(p redis.Pipeliner) error {
			p.Set(ctx, "k", "v", 0)
			p.LPush(ctx, "k", "x")
			p.Get(ctx, "k")
			return nil
		})
		require.ErrorContains(t, err, "WRONGTYPE")
		require.Equal(t, "OK", cmds[0].(*redis.StatusCmd).Val())
		require.Equal(t, "v", cmds[2].(*redis.StringCmd).Val())
		lost := c.Watch(ctx, func(tx *redis.Tx) error {
			require.NoError(t, c.Set(ctx, "k", "stolen", 0).Err())
			_, err := tx.TxPipelined(ctx, func(p redis.Pipeliner) error { return p.Set(ctx, "k", "mine", 0).Err() })
			return err
		}, "k")
		require.ErrorIs(t, lost, redis.TxFailedErr)
		require.Equal(t, "stolen", must(c.Get(ctx, "k").Result())(t))

		// Optimistic counters: every increment arrives exactly once.
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for done := 0; done < 25; {
					err := c.Watch(ctx, func(tx *redis.Tx) error {
						n, err := tx.Get(ctx, "n").Int()
						if err != nil && err != redis.Nil {
							return err
						}
						_, err = tx.TxPipelined(ctx, func(p redis.Pipeliner) error { return p.Set(ctx, "n", n+1, 0).Err() })
						return err
					}, "n")
					if err == nil {
						done++
					} else if err != redis.TxFailedErr {
						t.Error(err)
						return
					}
				}
			})
		}
		all.Wait()
		require.Equal(t, "200", must(c.Get(ctx, "n").Result())(t))
	})
}

// TestGoRedisPool shares ten connections among a hundred goroutines.
func TestGoRedisPool(t *testing.T) {
	n := node.Start(t)
	ctx := context.Background()
	c := redis.NewClient(&redis.Options{Addr: n.Addr, PoolSize: 10, PoolTimeout: time.Minute, MaxActiveConns: 10})
	defer func() { require.NoError(t, c.Close()) }()
	var all sync.WaitGroup
	for g := range 100 {
		all.Go(func() {
			key := fmt.Sprint("own:", g)
			for i := range 20 {
				cmds, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
					p.Set(ctx, key, i, 0)
					p.Get(ctx, key)
					p.Incr(ctx, "shared")
					return nil
				})
				if err != nil || cmds[1].(*redis.StringCmd).Val() != fmt.Sprint(i) {
					t.Error(err, cmds[1])
				}
			}
		})
	}
	all.Wait()
	require.Equal(t, "2000", must(c.Get(ctx, "shared").Result())(t))
	require.LessOrEqual(t, c.PoolStats().TotalConns, uint32(10))
}
