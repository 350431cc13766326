local no = fence()
if no then return no end
local rows, children = {}, {}
for i, key in ipairs(KEYS) do
  local id, parent = ARGV[4 * i - 3], ARGV[4 * i - 1]
  if not isjob(id) then return refuse(JOBKIND) end
  rows[id] = key
  if i > 1 then children[parent] = (children[parent] or 0) + 1 end
end
for _, key in ipairs(KEYS) do
  if redis.call('EXISTS', key) == 1 then return 0 end
end
for i, key in ipairs(KEYS) do
  if not children[ARGV[4 * i - 3]] and wrong(baseof(key) .. 'pending', 'zset') then return refuse(WRONG) end
end
for i, key in ipairs(KEYS) do
  local id, payload, parent, policy = ARGV[4 * i - 3], ARGV[4 * i - 2], ARGV[4 * i - 1], ARGV[4 * i]
  plant(key, payload, children[id] or 0, i > 1 and rows[parent] or nil, policy)
  if not children[id] then redis.call('ZADD', baseof(key) .. 'pending', 0, id) end
end
return #KEYS - 1
