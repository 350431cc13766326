local due, record, name, next = KEYS[1], KEYS[2], ARGV[1], tonumber(ARGV[2])
local no = fence()
if no then return no end
if wrong(due, 'zset') or wrong(record, 'hash') then return refuse(WRONG) end
local at = member(due, name)
if not at or next <= tonumber(at) then return 0 end
redis.call('ZADD', due, score(next), name)
return 1
