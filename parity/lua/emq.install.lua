if wrong('{emq}:version', 'string') then return refuse(WRONG) end
local held = redis.call('GET', '{emq}:version')
if held and held ~= 'echomq:6.0.0' then return refuse('EMQWIRE expected echomq:6.0.0 found ' .. held) end
if not held then redis.call('SET', '{emq}:version', 'echomq:6.0.0') end
return redis.status_reply('OK')
