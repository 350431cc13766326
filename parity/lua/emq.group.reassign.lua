local job, set, base, id, group = KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2]
local no = fence()
if no then return no end
if wrong(job, 'hash') then return refuse(WRONG) end
local old = laneof(job)
if not old then return -1 end
if old == group then return 0 end
if wrong(laneset(base, old), 'zset') then return refuse(WRONG) end
if not member(laneset(base, old), id) then return -2 end
local bad = rota(base) or openlane(base, old) or openlane(base, group)
if bad then return bad end
redis.call('ZREM', laneset(base, old), id)
redis.call('HSET', job, 'group', group)
redis.call('ZADD', set, 0, id)
turn(base, old)
turn(base, group)
return 1
