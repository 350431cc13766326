local due, record, name, every, template, first = KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local no = fence()
if no then return no end
if wrong(due, 'zset') or wrong(record, 'hash') then return refuse(WRONG) end
local same = member(due, name) and redis.call('HGET', record, 'every_ms') == every
if same and (redis.call('HGET', record, 'template') or '') == template then return 0 end
redis.call('HSET', record, 'every_ms', every, 'template', template)
if not same then redis.call('ZADD', due, first, name) end
return 1
