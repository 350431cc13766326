local stream, id = KEYS[1], ARGV[1]
local no = fence()
if no then return no end
local KIND = 'EMQKIND record id must be EVT-namespaced'
local DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
if #id ~= 14 or string.sub(id, 1, 3) ~= 'EVT' then return refuse(KIND) end
-- The snowflake as its time and the 22 bits below it: one number has no room for both.
local time, low = 0, 0
for i = 4, 14 do
  local digit = string.find(DIGITS, string.sub(id, i, i), 1, true)
  if not digit then return refuse(KIND) end
  low = low * 62 + digit - 1
  time = time * 62 + math.floor(low / 4194304)
  low = low % 4194304
end
if time >= 2199023255552 then return refuse(KIND) end
if wrong(stream, 'stream') then return refuse(WRONG) end
local call = {'XADD', stream, string.format('%.0f-%d', time + 1704067200000, low), 'id', id}
for i = 2, #ARGV - 2 do call[#call + 1] = ARGV[i] end
local added = redis.pcall(unpack(call))
if type(added) == 'table' and added.err then return refuse(added.err) end
return id
