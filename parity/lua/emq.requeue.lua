local active, pending, job, id, token = KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2]
local no = fence()
if no then return no end
if wrong(job, 'hash') then return refuse(WRONG) end
if kind(job) == 'none' then return refuse('EMQSTALE job gone') end
if redis.call('HGET', job, 'attempts') ~= token then return refuse('EMQSTALE requeue token mismatch') end
if lane(job) then return refuse('EMQLANE job belongs to a lane') end
if wrong(active, 'zset') then return refuse(WRONG) end
if not member(active, id) then return refuse('EMQSTALE requeue lease not held') end
if wrong(pending, 'zset') then return refuse(WRONG) end
redis.call('ZREM', active, id)
redis.call('HSET', job, 'state', 'pending')
redis.call('ZADD', pending, 0, id)
return 1
