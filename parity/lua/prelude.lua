-- Before every reference script. A script gets a verb's keys as KEYS and its arguments as ARGV, behind them the
-- clock in Unix milliseconds and the node epoch. What a script returns is the reply; it writes nothing before its
-- last check.

local NOW = tonumber(ARGV[#ARGV - 1])
local EPOCH = ARGV[#ARGV]
local WRONG = 'WRONGTYPE Operation against a key holding the wrong kind of value'

local function refuse(text) return redis.error_reply(text) end

local function kind(key) return redis.call('TYPE', key).ok end

local function wrong(key, want)
  local k = kind(key)
  return k ~= 'none' and k ~= want
end

-- fence returns the refusal, or nil when the fence holds this wire.
local function fence()
  if wrong('{emq}:version', 'string') then return refuse(WRONG) end
  local held = redis.call('GET', '{emq}:version')
  if not held then return refuse('EMQWIRE expected echomq:6.0.0 but {emq}:version is absent') end
  if held ~= 'echomq:6.0.0' then return refuse('EMQWIRE expected echomq:6.0.0 found ' .. held) end
end

local SUBS = {':logs', ':lock', ':dependencies', ':processed', ':failed', ':unsuccessful'}

-- row returns the key of a job's row, or nil for an id that can name none.
local function row(base, id)
  if id == '' then return nil end
  for _, sub in ipairs(SUBS) do
    if string.sub(id, -#sub) == sub then return nil end
  end
  return base .. 'job:' .. id
end

-- integer reports whether a text is an integer as the server reads it.
local function integer(text) return text == '0' or string.match(text, '^%-?[1-9]%d*$') ~= nil end

local function lane(key) return redis.call('HEXISTS', key, 'group') == 1 end

local function flow(key)
  return redis.call('HEXISTS', key, 'parent') == 1 or redis.call('HGET', key, 'state') == 'awaiting_children'
end

local function member(set, id) return redis.call('ZSCORE', set, id) end

-- counter returns what a field holds as text, '0' when it is absent, or a refusal when n more cannot be counted.
local function counter(key, field, n)
  local held = redis.call('HGET', key, field)
  if not held then return '0' end
  local up = redis.pcall('HINCRBY', key, field, n)
  if type(up) == 'table' then return nil, refuse(up.err) end
  redis.call('HSET', key, field, held)
  return held
end

-- metric is counter for the count of settled jobs.
local function metric(key, n)
  if wrong(key, 'hash') then return nil, refuse(WRONG) end
  return counter(key, 'count', n)
end

-- due returns the instant that a word and a number of milliseconds tell.
local function due(word, ms)
  if string.lower(word) == 'in' then return NOW + tonumber(ms) end
  return tonumber(ms)
end

local function score(n) return string.format('%.0f', n) end

-- holder returns the set that a settling verb takes the job out of, or a refusal.
local function holder(active, base, id, stale)
  if wrong(active, 'zset') then return nil, refuse(WRONG) end
  if member(active, id) then return active end
  local pending = base .. 'pending'
  if wrong(pending, 'zset') then return nil, refuse(WRONG) end
  if member(pending, id) then return pending end
  return nil, refuse(stale)
end
