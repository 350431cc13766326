local no = fence()
if no then return no end
local steps, bad = climb({KEYS[1]}, ARGV[1], ARGV[2], failedas(ARGV[3]))
if bad then return bad end
fall(steps)
return 1
