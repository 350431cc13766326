local job, schedule, id, payload = KEYS[1], KEYS[2], ARGV[1], ARGV[2]
local no = fence()
if no then return no end
if string.sub(id, 1, 3) ~= 'JOB' then return refuse('EMQKIND job id must be JOB-namespaced') end
if redis.call('EXISTS', job) == 1 then return 0 end
if wrong(schedule, 'zset') then return refuse(WRONG) end
redis.call('HSET', job, 'state', 'scheduled', 'attempts', '0', 'payload', payload)
redis.call('ZADD', schedule, score(due(ARGV[3], ARGV[4])), id)
return 1
