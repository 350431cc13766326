local failures, entry = KEYS[1], ARGV[1]
local no = fence()
if no then return no end
if wrong(failures, 'hash') then return refuse(WRONG) end
local _, bad = counter(failures, entry, 1)
if bad then return bad end
return redis.call('HINCRBY', failures, entry, 1)
