local active, schedule, dead, job, base = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local id, token, delay, budget, text = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5]
local no = fence()
if no then return no end
if wrong(job, 'hash') then return refuse(WRONG) end
if kind(job) == 'none' then return refuse('EMQSTALE job gone') end
if redis.call('HGET', job, 'attempts') ~= token then return refuse('EMQSTALE retry token mismatch') end
local group = laneof(job)
if not group then return refuse(FLAT) end
if flow(job) then return refuse('EMQFLOW job belongs to a flow') end
local set, stale = laneholder(active, base, id, group, 'EMQSTALE retry lease not held')
if stale then return stale end
local failures, bad = failed(job)
bad = bad or rota(base) or openlane(base, group)
if bad then return bad end
local to, at, state = schedule, NOW + delay, 'scheduled'
if failures >= budget then to, at, state = dead, 0, 'dead' end
if wrong(to, 'zset') then return refuse(WRONG) end
if state == 'dead' then
  local _, no_metric = metric(base .. 'metrics:failed', 1)
  if no_metric then return no_metric end
  redis.call('HINCRBY', base .. 'metrics:failed', 'count', 1)
end
redis.call('ZREM', set, id)
redis.call('HSET', job, 'last_error', text, 'failures', score(failures), 'state', state)
redis.call('ZADD', to, score(at), id)
if set == active then live(base, group, -1) end
turn(base, group)
return state
