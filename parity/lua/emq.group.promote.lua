local schedule, pending, base = KEYS[1], KEYS[2], KEYS[3]
local no = fence()
if no then return no end
if wrong(schedule, 'zset') then return refuse(WRONG) end
local picks, n, bad = duejobs(base, schedule, tonumber(ARGV[1]), nil)
if bad then return bad end
if #picks == 0 then return 0 end
if wrong(pending, 'zset') then return refuse(WRONG) end
bad = openlanes(base, picks)
if bad then return bad end
for _, pick in ipairs(picks) do release(base, schedule, pick, false) end
return n
