local job, id = KEYS[1], ARGV[1]
local no = fence()
if no then return no end
if wrong(job, 'hash') then return refuse(WRONG) end
if kind(job) == 'none' then return 'absent' end
for _, place in ipairs({{KEYS[3], 'active'}, {KEYS[2], 'pending'}, {KEYS[4], 'scheduled'}, {KEYS[5], 'dead'}}) do
  if wrong(place[1], 'zset') then return refuse(WRONG) end
  if member(place[1], id) then return place[2] end
end
local group = laneof(job)
if group then
  local set = laneset(baseof(job), group)
  if wrong(set, 'zset') then return refuse(WRONG) end
  if member(set, id) then return 'pending' end
end
if awaiting(job) then return 'awaiting_children' end
return 'unknown'
