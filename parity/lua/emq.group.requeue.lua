local active, job, base, id, token = KEYS[1], KEYS[3], KEYS[4], ARGV[1], ARGV[2]
local no = fence()
if no then return no end
if wrong(job, 'hash') then return refuse(WRONG) end
if kind(job) == 'none' then return refuse('EMQSTALE job gone') end
if redis.call('HGET', job, 'attempts') ~= token then return refuse('EMQSTALE requeue token mismatch') end
local group = laneof(job)
if not group then return refuse(FLAT) end
if wrong(active, 'zset') then return refuse(WRONG) end
if not member(active, id) then return refuse('EMQSTALE requeue lease not held') end
local bad = rota(base) or openlane(base, group)
if bad then return bad end
redis.call('ZREM', active, id)
redis.call('HSET', job, 'state', 'pending')
redis.call('ZADD', laneset(base, group), 0, id)
live(base, group, -1)
turn(base, group)
return 1
