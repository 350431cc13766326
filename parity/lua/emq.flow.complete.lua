local active, job, base, parent, id, token, result = KEYS[1], KEYS[2], KEYS[3], KEYS[4], ARGV[1], ARGV[2], ARGV[3]
local no = fence()
if no then return no end
if wrong(job, 'hash') then return refuse(WRONG) end
if kind(job) == 'none' then return 0 end
if redis.call('HGET', job, 'attempts') ~= token then return refuse('EMQSTALE complete token mismatch') end
if lane(job) then return refuse(LANE) end
local bad = checkparent(base, job, parent)
if bad then return bad end
local set, stale = holder(active, base, id, 'EMQSTALE complete lease not held')
if stale then return stale end
local s, _
_, bad = metric(base .. 'metrics:completed', 1)
if bad then return bad end
s, bad = step(parent, id, result, 'done')
if bad then return bad end
redis.call('ZREM', set, id)
forget(job)
redis.call('HINCRBY', base .. 'metrics:completed', 'count', 1)
apply(s)
return 1
