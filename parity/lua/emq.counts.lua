local base = KEYS[1]
local no = fence()
if no then return no end
local out = {}
for i = 1, #ARGV - 2 do
  local name = string.lower(ARGV[i])
  if name == 'completed' or name == 'failed' then
    local key = base .. 'metrics:' .. name
    if wrong(key, 'hash') then return refuse(WRONG) end
    local n = redis.call('HGET', key, 'count') or '0'
    if not integer(n) then return refuse(NUMBER) end
    out[i] = tonumber(n)
  else
    if wrong(base .. name, 'zset') then return refuse(WRONG) end
    out[i] = redis.call('ZCARD', base .. name)
  end
end
return out
