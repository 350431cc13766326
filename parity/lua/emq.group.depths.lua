local base, depths = KEYS[1], {}
local no = fence()
if no then return no end
for i = 1, #ARGV - 2 do
  local set = laneset(base, ARGV[i])
  if wrong(set, 'zset') then return refuse(WRONG) end
  depths[i] = redis.call('ZCARD', set)
end
return depths
