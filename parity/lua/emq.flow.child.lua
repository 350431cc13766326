local key, base, parent, id, payload, policy = KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2], ARGV[3]
local no = fence()
if no then return no end
if not isjob(id) then return refuse(JOBKIND) end
if redis.call('EXISTS', key) == 1 then return 0 end
if wrong(parent, 'hash') then return refuse(WRONG) end
if not awaiting(parent) then return refuse('EMQSTATE not awaiting children') end
local seen, bad = told(parent, id)
if bad then return bad end
if seen then return 0 end
local n
n, bad = openchildren(parent)
if bad then return bad end
if wrong(base .. 'pending', 'zset') then return refuse(WRONG) end
plant(key, payload, 0, parent, policy)
redis.call('ZADD', base .. 'pending', 0, id)
if string.lower(ARGV[4]) == 'extra' then redis.call('SET', parent .. ':dependencies', score(n + 1)) end
return 1
