local no = fence()
if no then return no end
if wrong(KEYS[1], 'hash') then return refuse(WRONG) end
redis.call('HDEL', KEYS[1], 'paused')
return 1
