local base = KEYS[1]
local no = fence()
if no then return no end
local all, sets, child = {}, {}, false
for i = 2, #KEYS do
  if wrong(KEYS[i], 'zset') then return refuse(WRONG) end
  sets[i] = redis.call('ZRANGE', KEYS[i], 0, 4999 - #all)
  for _, id in ipairs(sets[i]) do
    local key = row(base, id)
    if key and wrong(key, 'hash') then return refuse(WRONG) end
    child = child or key and redis.call('HEXISTS', key, 'parent') == 1
    all[#all + 1] = id
  end
end
if child and wrong(base .. 'flow:outbox', 'list') then return refuse(WRONG) end
local n = 0
for _, id in ipairs(all) do
  local key = row(base, id)
  if key and kind(key) ~= 'none' then
    if redis.call('HEXISTS', key, 'parent') == 1 then signal(base, id, 'removed') end
    forget(key)
    n = n + 1
  end
end
for i = 2, #KEYS do
  for _, id in ipairs(sets[i]) do redis.call('ZREM', KEYS[i], id) end
end
return n
