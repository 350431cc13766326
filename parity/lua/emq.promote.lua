local schedule, pending, base, batch = KEYS[1], KEYS[2], KEYS[3], tonumber(ARGV[1])
local no = fence()
if no then return no end
if wrong(schedule, 'zset') then return refuse(WRONG) end
local orphans, jobs = {}, {}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', schedule, '-inf', score(NOW))) do
  if #jobs >= batch then break end
  local key = row(base, id)
  if not key or kind(key) == 'none' then
    orphans[#orphans + 1] = id
  elseif wrong(key, 'hash') then
    return refuse(WRONG)
  elseif not lane(key) then
    jobs[#jobs + 1] = id
  end
end
if #orphans + #jobs > 0 and wrong(pending, 'zset') then return refuse(WRONG) end
for _, id in ipairs(orphans) do redis.call('ZREM', schedule, id) end
for _, id in ipairs(jobs) do
  redis.call('ZREM', schedule, id)
  redis.call('HSET', row(base, id), 'state', 'pending')
  redis.call('ZADD', pending, 0, id)
end
return #jobs
