local base, group, n = KEYS[1], ARGV[1], ARGV[2]
local bad = fence() or rota(base) or openlane(base, group)
if bad then return bad end
redis.call('HSET', base .. 'glimit', group, n)
turn(base, group)
return 1
