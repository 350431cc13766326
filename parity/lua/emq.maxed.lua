local meta, active = KEYS[1], KEYS[2]
local no = fence()
if no then return no end
if wrong(meta, 'hash') then return refuse(WRONG) end
local most = redis.call('HGET', meta, 'concurrency')
if most and not integer(most) then return refuse(NUMBER) end
if wrong(active, 'zset') then return refuse(WRONG) end
if most and redis.call('ZCARD', active) >= tonumber(most) then return refuse('EMQRATE at concurrency ceiling') end
return 0
