local no = fence()
if no then return no end
if wrong(KEYS[1], 'hash') then return refuse(WRONG) end
if redis.call('HEXISTS', KEYS[1], 'paused') == 0 then redis.call('HSET', KEYS[1], 'paused', '1') end
return 1
