local job, active, schedule, base = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local id, token, at = ARGV[1], ARGV[2], due(ARGV[3], ARGV[4])
local no = fence()
if no then return no end
if string.sub(id, 1, 3) ~= 'JOB' then return refuse('EMQKIND job id must be JOB-namespaced') end
if wrong(job, 'hash') then return refuse(WRONG) end
if kind(job) == 'none' then return refuse('EMQSTALE job gone') end
if redis.call('HGET', job, 'attempts') ~= token then return refuse('EMQSTALE delay token mismatch') end
local group = laneof(job)
if not group then return refuse(FLAT) end
if wrong(active, 'zset') then return refuse(WRONG) end
if not member(active, id) then return refuse('EMQSTALE delay lease not held') end
if wrong(schedule, 'zset') then return refuse(WRONG) end
local bad = rota(base) or openlane(base, group)
if bad then return bad end
redis.call('ZREM', active, id)
redis.call('HSET', job, 'state', 'scheduled')
redis.call('ZADD', schedule, score(at), id)
live(base, group, -1)
turn(base, group)
return 1
