local job, dedup, id = KEYS[1], KEYS[6], ARGV[1]
local base = baseof(job)
local no = fence()
if no then return no end
if wrong(job, 'hash') or wrong(dedup, 'string') then return refuse(WRONG) end
local parked = redis.call('GET', dedup) == id
if kind(job) == 'none' then
  if parked then redis.call('DEL', dedup) end
  return -1
end
if redis.call('EXISTS', job .. ':lock') == 1 then return refuse('EMQLOCK job is locked') end
for i = 2, 5 do
  if wrong(KEYS[i], 'zset') then return refuse(WRONG) end
end
local group = laneof(job)
if group then
  local bad = rota(base) or openlane(base, group)
  if bad then return bad end
end
local child = redis.call('HEXISTS', job, 'parent') == 1
if child and wrong(base .. 'flow:outbox', 'list') then return refuse(WRONG) end
local held = member(KEYS[3], id)
for i = 2, 5 do redis.call('ZREM', KEYS[i], id) end
if group then
  redis.call('ZREM', laneset(base, group), id)
  if held then live(base, group, -1) end
  turn(base, group)
end
if child then signal(base, id, 'removed') end
forget(job)
if parked then redis.call('DEL', dedup) end
return 1
