local active, schedule, dead, job, base = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local id, token, delay, budget, text = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5]
local no = fence()
if no then return no end
if wrong(job, 'hash') then return refuse(WRONG) end
if kind(job) == 'none' then return refuse('EMQSTALE job gone') end
if redis.call('HGET', job, 'attempts') ~= token then return refuse('EMQSTALE retry token mismatch') end
if lane(job) then return refuse(LANE) end
local bad = checkparent(base, job, KEYS[6])
if bad then return bad end
local set, stale = holder(active, base, id, 'EMQSTALE retry lease not held')
if stale then return stale end
local failures
failures, bad = failed(job)
if bad then return bad end
if failures < budget then
  if wrong(schedule, 'zset') then return refuse(WRONG) end
  redis.call('ZREM', set, id)
  redis.call('HSET', job, 'last_error', text, 'failures', score(failures), 'state', 'scheduled')
  redis.call('ZADD', schedule, score(NOW + delay), id)
  return 'scheduled'
end
local up = {}
for i = 6, #KEYS do up[#up + 1] = KEYS[i] end
local steps
steps, bad = climb(up, id, text, failedas(redis.call('HGET', job, 'parent_policy')))
if bad then return bad end
if wrong(dead, 'zset') then return refuse(WRONG) end
local _
_, bad = metric(base .. 'metrics:failed', 1)
if bad then return bad end
redis.call('ZREM', set, id)
redis.call('HSET', job, 'last_error', text, 'failures', score(failures), 'state', 'dead')
redis.call('ZADD', dead, 0, id)
redis.call('HINCRBY', base .. 'metrics:failed', 'count', 1)
fall(steps)
return 'dead'
