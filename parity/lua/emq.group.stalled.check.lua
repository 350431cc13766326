local active, pending, dead, base = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local max_stalled, limit = tonumber(ARGV[1]), tonumber(ARGV[2])
local no = fence()
if no then return no end
if wrong(active, 'zset') then return refuse(WRONG) end
local found, n, buried, child = {}, 0, 0, false
for _, id in ipairs(redis.call('ZRANGEBYSCORE', active, '-inf', score(NOW))) do
  if n >= limit then break end
  local key = row(base, id)
  if not key or kind(key) == 'none' then
    found[#found + 1] = {id, 'orphan'}
  elseif wrong(key, 'hash') then
    return refuse(WRONG)
  elseif not lane(key) or laneof(key) then
    n = n + 1
    local pick = {id, lane(key) and 'lane' or 'flat', 'count'}
    local epoch = redis.call('HGET', key, 'lease_epoch')
    if epoch and integer(epoch) and tonumber(epoch) < tonumber(EPOCH) then
      pick[3] = 'free'
    else
      local held, bad = counter(key, 'stalled', 1)
      if bad then return bad end
      if tonumber(held) + 1 >= max_stalled then
        pick[3] = 'bury'
        buried = buried + 1
        child = child or redis.call('HEXISTS', key, 'parent') == 1
      end
    end
    found[#found + 1] = pick
  end
end
local recovered, gone = {}, {}
if #found == 0 then return {recovered, gone} end
if wrong(pending, 'zset') then return refuse(WRONG) end
local bad = openlanes(base, found)
if bad then return bad end
if buried > 0 then
  if wrong(dead, 'zset') then return refuse(WRONG) end
  local _, no_metric = metric(base .. 'metrics:failed', buried)
  if no_metric then return no_metric end
  if child and wrong(base .. 'flow:outbox', 'list') then return refuse(WRONG) end
end
for _, pick in ipairs(found) do
  local id, key = pick[1], row(base, pick[1])
  if pick[2] ~= 'orphan' and pick[3] ~= 'free' then redis.call('HINCRBY', key, 'stalled', 1) end
  if pick[3] == 'bury' then
    redis.call('ZREM', active, id)
    redis.call('HSET', key, 'state', 'dead', 'last_error', 'stalled')
    redis.call('ZADD', dead, 0, id)
    gone[#gone + 1] = id
    if redis.call('HEXISTS', key, 'parent') == 1 then signal(base, id, 'stalled') end
    if pick[2] == 'lane' then
      live(base, laneof(key), -1)
      turn(base, laneof(key))
    end
  else
    if pick[2] ~= 'orphan' then recovered[#recovered + 1] = id end
    release(base, active, pick, true)
  end
end
if buried > 0 then redis.call('HINCRBY', base .. 'metrics:failed', 'count', buried) end
return {recovered, gone}
