local base, group, n = KEYS[1], ARGV[1], ARGV[2]
local bad = fence()
if bad then return bad end
if wrong(base .. 'gweight', 'hash') then return refuse(WRONG) end
bad = rota(base) or openlane(base, group)
if bad then return bad end
redis.call('HSET', base .. 'gweight', group, n)
turn(base, group)
return 1
