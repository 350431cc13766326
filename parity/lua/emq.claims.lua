local pending, active, base, lease, size = KEYS[1], KEYS[2], KEYS[3], tonumber(ARGV[1]), tonumber(ARGV[2])
local no = fence()
if no then return no end
local meta = base .. 'meta'
if wrong(meta, 'hash') then return refuse(WRONG) end
if redis.call('HEXISTS', meta, 'paused') == 1 then return {} end
if wrong(pending, 'zset') then return refuse(WRONG) end
local orphans, jobs, bad = heads(base, pending, size, nil)
if bad then return bad end
if #orphans + #jobs == 0 then return {} end
if wrong(active, 'zset') then return refuse(WRONG) end
for _, id in ipairs(orphans) do redis.call('ZREM', pending, id) end
local replies = {}
for i, id in ipairs(jobs) do replies[i] = hold(base, pending, active, id, lease, nil) end
return replies
