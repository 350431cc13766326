local job, dead, base, id = KEYS[1], KEYS[2], KEYS[4], ARGV[1]
local no = fence()
if no then return no end
if wrong(job, 'hash') then return refuse(WRONG) end
if kind(job) == 'none' then return -1 end
if wrong(dead, 'zset') then return refuse(WRONG) end
if not member(dead, id) then return refuse('EMQSTATE not dead') end
local group = laneof(job)
if not group then return refuse(FLAT) end
local bad = rota(base) or openlane(base, group)
if bad then return bad end
redis.call('ZREM', dead, id)
redis.call('HDEL', job, 'last_error', 'failures', 'stalled')
redis.call('HSET', job, 'state', 'pending')
redis.call('ZADD', laneset(base, group), 0, id)
turn(base, group)
return 1
