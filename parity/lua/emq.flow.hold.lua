local key, base, id, payload, n = KEYS[1], KEYS[2], ARGV[1], ARGV[2], tonumber(ARGV[3])
local parent, policy
if #ARGV == 7 then parent, policy = ARGV[4], ARGV[5] end
local no = fence()
if no then return no end
if not isjob(id) or parent and not isjob(parent) then return refuse(JOBKIND) end
if redis.call('EXISTS', key) == 1 then return 0 end
plant(key, payload, n, parent and base .. 'job:' .. parent, policy)
return 1
