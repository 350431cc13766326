local no = fence()
if no then return no end
local s, bad = step(KEYS[1], ARGV[1], ARGV[2], 'done')
if bad then return bad end
apply(s)
return 1
