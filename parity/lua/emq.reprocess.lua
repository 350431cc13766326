local job, dead, pending, id = KEYS[1], KEYS[2], KEYS[3], ARGV[1]
local no = fence()
if no then return no end
if wrong(job, 'hash') then return refuse(WRONG) end
if kind(job) == 'none' then return -1 end
if wrong(dead, 'zset') then return refuse(WRONG) end
if not member(dead, id) then return refuse('EMQSTATE not dead') end
if lane(job) then return refuse('EMQLANE job belongs to a lane') end
if wrong(pending, 'zset') then return refuse(WRONG) end
redis.call('ZREM', dead, id)
redis.call('HSET', job, 'state', 'pending')
redis.call('HDEL', job, 'last_error', 'failures', 'stalled')
redis.call('ZADD', pending, 0, id)
return 1
