local job, set, base, id, payload, group = KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2], ARGV[3]
local no = fence()
if no then return no end
if string.sub(id, 1, 3) ~= 'JOB' then return refuse('EMQKIND job id must be JOB-namespaced') end
if redis.call('EXISTS', job) == 1 then return 0 end
local bad = rota(base) or openlane(base, group)
if bad then return bad end
redis.call('HSET', job, 'state', 'pending', 'attempts', '0', 'payload', payload, 'group', group)
redis.call('ZADD', set, 0, id)
turn(base, group)
return 1
