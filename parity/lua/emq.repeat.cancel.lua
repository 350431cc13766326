local due, record, name = KEYS[1], KEYS[2], ARGV[1]
local no = fence()
if no then return no end
if wrong(due, 'zset') or wrong(record, 'hash') then return refuse(WRONG) end
local there = member(due, name) and 1 or 0
redis.call('ZREM', due, name)
redis.call('DEL', record)
return there
