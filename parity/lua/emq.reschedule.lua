local schedule, job, id = KEYS[1], KEYS[2], ARGV[1]
local no = fence()
if no then return no end
if wrong(job, 'hash') then return refuse(WRONG) end
if kind(job) == 'none' then return -1 end
if wrong(schedule, 'zset') then return refuse(WRONG) end
if not member(schedule, id) then return refuse('EMQSTATE not scheduled') end
redis.call('ZADD', schedule, score(due(ARGV[2], ARGV[3])), id)
return 1
