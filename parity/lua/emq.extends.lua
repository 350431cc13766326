local active, base, lease = KEYS[1], KEYS[2], tonumber(ARGV[1])
local no = fence()
if no then return no end
if wrong(active, 'zset') then return refuse(WRONG) end
local lost = {}
for i = 2, #ARGV - 3, 2 do
  local id, token = ARGV[i], ARGV[i + 1]
  local key = row(base, id)
  if key and kind(key) == 'hash' and redis.call('HGET', key, 'attempts') == token and member(active, id) then
    redis.call('ZADD', active, score(NOW + lease), id)
  else
    lost[#lost + 1] = id
  end
end
return lost
