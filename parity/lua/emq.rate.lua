local limiter, meta, most = KEYS[1], KEYS[2], tonumber(ARGV[1])
local no = fence()
if no then return no end
if most == 0 then
  if wrong(meta, 'hash') then return refuse(WRONG) end
  most = redis.call('HGET', meta, 'max')
  if most and not integer(most) then return refuse(NUMBER) end
end
if wrong(limiter, 'string') then return refuse(WRONG) end
local used = redis.call('GET', limiter)
if not used then return 0 end
if most then
  if not integer(used) then return refuse('ERR value is not an integer or out of range') end
  if tonumber(used) < tonumber(most) then return 0 end
end
local at = redis.call('PEXPIRETIME', limiter)
if at < 0 then return 0 end
return at - NOW
