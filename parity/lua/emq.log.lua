local job, logs, keep = KEYS[1], KEYS[2], tonumber(ARGV[2])
local no = fence()
if no then return no end
if wrong(job, 'hash') then return refuse(WRONG) end
if kind(job) == 'none' then return -1 end
if wrong(logs, 'list') then return refuse(WRONG) end
redis.call('RPUSH', logs, ARGV[1])
if keep > 0 then redis.call('LTRIM', logs, -keep, -1) end
return redis.call('LLEN', logs)
