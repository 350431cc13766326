local active, base = KEYS[1], KEYS[2]
local no = fence()
if no then return no end
if wrong(active, 'zset') then return refuse(WRONG) end
local picks, n, bad = duejobs(base, active, tonumber(ARGV[2]), ARGV[1])
if bad then return bad end
if #picks == 0 then return 0 end
bad = openlanes(base, picks)
if bad then return bad end
for _, pick in ipairs(picks) do release(base, active, pick, true) end
return n
