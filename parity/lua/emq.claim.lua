local pending, active, base, lease = KEYS[1], KEYS[2], KEYS[3], tonumber(ARGV[1])
local no = fence()
if no then return no end
local meta = base .. 'meta'
if wrong(meta, 'hash') then return refuse(WRONG) end
if redis.call('HEXISTS', meta, 'paused') == 1 then return {} end
if wrong(pending, 'zset') then return refuse(WRONG) end
local orphans, id, job = {}, nil, nil
for i, member in ipairs(redis.call('ZRANGE', pending, 0, 128)) do
  local key = row(base, member)
  if key and kind(key) ~= 'none' then
    id, job = member, key
    break
  end
  if i <= 128 then orphans[i] = member end
end
if not id and #orphans == 0 then return {} end
if id then
  if wrong(job, 'hash') then return refuse(WRONG) end
  if lane(job) then return refuse('EMQLANE job belongs to a lane') end
  local _, bad = counter(job, 'attempts', 1)
  if bad then return bad end
end
if wrong(active, 'zset') then return refuse(WRONG) end
for _, member in ipairs(orphans) do redis.call('ZREM', pending, member) end
if not id then return {} end
local before = redis.call('HGET', job, 'attempts')
if before and tonumber(before) > 0 and redis.call('HEXISTS', job, 'lease_epoch') == 0
  and redis.call('HEXISTS', job, 'failures') == 0 then
  redis.call('HSET', job, 'failures', before)
end
redis.call('ZREM', pending, id)
local attempts = redis.call('HINCRBY', job, 'attempts', 1)
redis.call('HSET', job, 'state', 'active', 'lease_epoch', EPOCH)
redis.call('ZADD', active, score(NOW + lease), id)
return {id, redis.call('HGET', job, 'payload'), attempts}
