local active, job, id, token, lease = KEYS[1], KEYS[2], ARGV[1], ARGV[2], tonumber(ARGV[3])
local no = fence()
if no then return no end
if wrong(job, 'hash') then return refuse(WRONG) end
if kind(job) == 'none' then return -1 end
if redis.call('HGET', job, 'attempts') ~= token then return refuse('EMQSTALE extend token mismatch') end
if wrong(active, 'zset') then return refuse(WRONG) end
if not member(active, id) then return refuse('EMQSTALE extend lease not held') end
redis.call('ZADD', active, score(NOW + lease), id)
return 1
