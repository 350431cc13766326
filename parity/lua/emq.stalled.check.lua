local active, pending, dead, base = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local max_stalled, limit = tonumber(ARGV[1]), tonumber(ARGV[2])
local no = fence()
if no then return no end
if wrong(active, 'zset') then return refuse(WRONG) end

local picks, n, buried, child = {}, 0, 0, false
for _, id in ipairs(redis.call('ZRANGEBYSCORE', active, '-inf', score(NOW))) do
  if n >= limit then break end
  local key = row(base, id)
  if not key or kind(key) == 'none' then
    picks[#picks + 1] = {id, 'orphan'}
  elseif wrong(key, 'hash') then
    return refuse(WRONG)
  elseif not lane(key) then
    n = n + 1
    local epoch = redis.call('HGET', key, 'lease_epoch')
    if epoch and integer(epoch) and tonumber(epoch) < tonumber(EPOCH) then
      picks[#picks + 1] = {id, 'free'}
    else
      local held, bad = counter(key, 'stalled', 1)
      if bad then return bad end
      if tonumber(held) + 1 >= max_stalled then
        picks[#picks + 1] = {id, 'bury'}
        buried = buried + 1
        child = child or redis.call('HEXISTS', key, 'parent') == 1
      else
        picks[#picks + 1] = {id, 'count'}
      end
    end
  end
end

local recovered, gone = {}, {}
if #picks == 0 then return {recovered, gone} end
if wrong(pending, 'zset') then return refuse(WRONG) end
if buried > 0 then
  if wrong(dead, 'zset') then return refuse(WRONG) end
  local _, bad = metric(base .. 'metrics:failed', buried)
  if bad then return bad end
  if child and wrong(base .. 'flow:outbox', 'list') then return refuse(WRONG) end
end

for _, pick in ipairs(picks) do
  local id, what = pick[1], pick[2]
  redis.call('ZREM', active, id)
  if what ~= 'orphan' then
    local key = row(base, id)
    if what ~= 'free' then redis.call('HINCRBY', key, 'stalled', 1) end
    if what == 'bury' then
      redis.call('HSET', key, 'state', 'dead', 'last_error', 'stalled')
      redis.call('ZADD', dead, 0, id)
      gone[#gone + 1] = id
      local parent = redis.call('HGET', key, 'parent')
      if parent then
        local queue = redis.call('HGET', key, 'parent_queue') or string.match(base, '{(.*)}')
        local policy = redis.call('HGET', key, 'parent_policy') or ''
        redis.call('RPUSH', base .. 'flow:outbox',
          table.concat({'', 'fail', queue, parent, id, policy, 'stalled'}, '\0'))
      end
    else
      redis.call('HSET', key, 'state', 'pending')
      redis.call('ZADD', pending, 0, id)
      recovered[#recovered + 1] = id
    end
  end
end
if buried > 0 then redis.call('HINCRBY', base .. 'metrics:failed', 'count', buried) end
return {recovered, gone}
