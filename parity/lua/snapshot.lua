-- Returns everything that the database holds as one text, key by key in byte order.
local keys = redis.call('KEYS', '*')
table.sort(keys)
local out = {}
for _, key in ipairs(keys) do
  local kind = redis.call('TYPE', key).ok
  local parts = {key, kind}
  if kind == 'string' then
    parts[3] = redis.call('GET', key)
  elseif kind == 'zset' then
    for _, x in ipairs(redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')) do parts[#parts + 1] = x end
  elseif kind == 'list' then
    for _, x in ipairs(redis.call('LRANGE', key, 0, -1)) do parts[#parts + 1] = x end
  elseif kind == 'set' then
    local members = redis.call('SMEMBERS', key)
    table.sort(members)
    for _, x in ipairs(members) do parts[#parts + 1] = x end
  elseif kind == 'hash' then
    local flat, fields = redis.call('HGETALL', key), {}
    for i = 1, #flat, 2 do fields[#fields + 1] = flat[i] .. '=' .. flat[i + 1] end
    table.sort(fields)
    for _, x in ipairs(fields) do parts[#parts + 1] = x end
  elseif kind == 'stream' then
    for _, entry in ipairs(redis.call('XRANGE', key, '-', '+')) do
      parts[#parts + 1] = entry[1]
      for _, x in ipairs(entry[2]) do parts[#parts + 1] = x end
    end
  end
  out[#out + 1] = table.concat(parts, '\1')
end
return table.concat(out, '\n')
