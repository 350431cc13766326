local set, base, group, n, child = KEYS[1], KEYS[3], ARGV[1], 0, false
local no = fence()
if no then return no end
if wrong(set, 'zset') then return refuse(WRONG) end
local ids = redis.call('ZRANGE', set, 0, 4999)
for _, id in ipairs(ids) do
  local key = row(base, id)
  if key and wrong(key, 'hash') then return refuse(WRONG) end
  child = child or key and redis.call('HEXISTS', key, 'parent') == 1
end
local bad = rota(base) or openlane(base, group)
if bad then return bad end
if child and wrong(base .. 'flow:outbox', 'list') then return refuse(WRONG) end
for _, id in ipairs(ids) do
  local key = row(base, id)
  if key and kind(key) ~= 'none' then
    if redis.call('HEXISTS', key, 'parent') == 1 then signal(base, id, 'removed') end
    forget(key)
    n = n + 1
  end
  redis.call('ZREM', set, id)
end
turn(base, group)
return n
