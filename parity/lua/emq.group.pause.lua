local paused, base, group = KEYS[1], KEYS[3], ARGV[1]
local bad = fence() or rota(base) or openlane(base, group)
if bad then return bad end
redis.call('SADD', paused, group)
turn(base, group)
return 1
