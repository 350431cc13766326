local no = fence()
if no then return no end
if wrong(KEYS[1], 'hash') then return refuse(WRONG) end
if kind(KEYS[1]) == 'none' then return -1 end
redis.call('HSET', KEYS[1], 'payload', ARGV[1])
return 1
