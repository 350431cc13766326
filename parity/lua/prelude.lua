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

-- Lanes.

local LANE = 'EMQLANE job belongs to a lane'
local FLAT = 'EMQLANE job has no lane'
local NUMBER = 'ERR hash value is not an integer'

local function valid(group) return group ~= '' and not string.find(group, '%z') end

-- laneof returns the group that a row names, or nil.
local function laneof(key)
  local group = redis.call('HGET', key, 'group')
  if group and valid(group) then return group end
end

local function laneset(base, group) return base .. 'g:' .. group .. ':pending' end

-- rota returns the refusal of a queue whose lanes cannot be looked at.
local function rota(base)
  if wrong(base .. 'ring', 'list') or wrong(base .. 'wake', 'list') or wrong(base .. 'paused', 'set')
    or wrong(base .. 'glimit', 'hash') or wrong(base .. 'gactive', 'hash') then return refuse(WRONG) end
end

-- openlane returns the refusal of a lane that cannot be looked at; the rota can.
local function openlane(base, group)
  if wrong(laneset(base, group), 'zset') then return refuse(WRONG) end
  for _, name in ipairs({'glimit', 'gactive'}) do
    local held = redis.call('HGET', base .. name, group)
    if held and not integer(held) then return refuse(NUMBER) end
  end
end

local function serviceable(base, group)
  local limit = redis.call('HGET', base .. 'glimit', group)
  local active = tonumber(redis.call('HGET', base .. 'gactive', group) or 0)
  return redis.call('ZCARD', laneset(base, group)) > 0 and redis.call('SISMEMBER', base .. 'paused', group) == 0
    and (not limit or active < tonumber(limit))
end

-- turn is the ring rule.
local function turn(base, group)
  local ring = base .. 'ring'
  local on = redis.call('LPOS', ring, group)
  if serviceable(base, group) then
    if not on then
      redis.call('RPUSH', ring, group)
      redis.call('LPUSH', base .. 'wake', '1')
      redis.call('LTRIM', base .. 'wake', 0, 63)
    end
  elseif on then
    redis.call('LREM', ring, 0, group)
  end
end

local function live(base, group, by)
  local n = tonumber(redis.call('HGET', base .. 'gactive', group) or 0) + by
  if n > 0 then
    redis.call('HSET', base .. 'gactive', group, score(n))
  else
    redis.call('HDEL', base .. 'gactive', group)
  end
end

-- laneholder is holder for the job of a lane.
local function laneholder(active, base, id, group, stale)
  if wrong(active, 'zset') then return nil, refuse(WRONG) end
  if member(active, id) then return active end
  local set = laneset(base, group)
  if wrong(set, 'zset') then return nil, refuse(WRONG) end
  if member(set, id) then return set end
  return nil, refuse(stale)
end

-- heads returns the orphans and the jobs at the head of a set, at most n jobs; the set is a lane when group is given.
local function heads(base, set, n, group)
  local orphans, jobs = {}, {}
  for _, id in ipairs(redis.call('ZRANGE', set, 0, -1)) do
    if #jobs >= n then break end
    local key = row(base, id)
    if not key or kind(key) == 'none' then
      if #orphans == 128 then break end
      orphans[#orphans + 1] = id
    else
      local bad
      if wrong(key, 'hash') then
        bad = refuse(WRONG)
      else
        local held = redis.call('HGET', key, 'group')
        if held and held ~= group then
          bad = refuse(LANE)
        elseif group and not held then
          bad = refuse(FLAT)
        else
          local _, no = counter(key, 'attempts', 1)
          bad = no
        end
      end
      if bad and #jobs == 0 then return orphans, jobs, bad end
      if bad then break end
      jobs[#jobs + 1] = id
    end
  end
  return orphans, jobs
end

-- hold claims one job out of a set and returns its reply.
local function hold(base, set, active, id, lease, group)
  local job = row(base, id)
  local before = redis.call('HGET', job, 'attempts')
  if before and tonumber(before) > 0 and redis.call('HEXISTS', job, 'lease_epoch') == 0
    and redis.call('HEXISTS', job, 'failures') == 0 then
    redis.call('HSET', job, 'failures', before)
  end
  redis.call('ZREM', set, id)
  local attempts = redis.call('HINCRBY', job, 'attempts', 1)
  redis.call('HSET', job, 'state', 'active', 'lease_epoch', EPOCH)
  redis.call('ZADD', active, score(NOW + lease), id)
  return {id, redis.call('HGET', job, 'payload'), attempts, group}
end

local function share(base, group, how)
  local room = math.huge
  local limit = redis.call('HGET', base .. 'glimit', group)
  if limit then room = tonumber(limit) - math.max(tonumber(redis.call('HGET', base .. 'gactive', group) or 0), 0) end
  if how == 'one' then return 1 end
  if how == 'all' then return room end
  if wrong(base .. 'gweight', 'hash') then return nil, refuse(WRONG) end
  local weight = redis.call('HGET', base .. 'gweight', group) or '1'
  if not integer(weight) then return nil, refuse(NUMBER) end
  return math.min(room, math.max(tonumber(weight), 1))
end

-- claimturn gives the next lane of the ring its turn.
local function claimturn(base, active, lease, how)
  local no = fence()
  if no then return no end
  local meta, ring = base .. 'meta', base .. 'ring'
  if wrong(meta, 'hash') then return refuse(WRONG) end
  if redis.call('HEXISTS', meta, 'paused') == 1 then return {} end
  local bad = rota(base)
  if bad then return bad end
  local wrote = false
  while true do
    local skip, group = 0, nil
    for _, next in ipairs(redis.call('LRANGE', ring, 0, -1)) do
      if valid(next) then
        bad = openlane(base, next)
        if bad then break end
        if serviceable(base, next) then
          group = next
          break
        end
      end
      skip = skip + 1
    end
    local orphans, jobs, n = {}, {}, 0
    if group then n, bad = share(base, group, how) end
    if group and not bad then orphans, jobs, bad = heads(base, laneset(base, group), n, group) end
    if bad then return wrote and {} or bad end
    if not group and skip == 0 then return {} end
    if wrong(active, 'zset') then return refuse(WRONG) end
    for _ = 1, skip do redis.call('LPOP', ring) end
    if not group then return {} end
    local set = laneset(base, group)
    for _, id in ipairs(orphans) do redis.call('ZREM', set, id) end
    local replies = {}
    for i, id in ipairs(jobs) do replies[i] = hold(base, set, active, id, lease, group) end
    if #jobs > 0 then live(base, group, #jobs) end
    redis.call('LMOVE', ring, ring, 'LEFT', 'RIGHT')
    turn(base, group)
    if #jobs > 0 or #orphans == 128 then
      if how == 'one' then return replies[1] or {} end
      return replies
    end
    wrote = true
  end
end

-- due returns what a look through a set finds up to now: pairs of an id and orphan, flat or lane. Only one lane's jobs when
-- group is given.
local function duejobs(base, set, limit, group)
  local picks, n = {}, 0
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', set, '-inf', score(NOW))) do
    if n >= limit then break end
    local key = row(base, id)
    if not key or kind(key) == 'none' then
      picks[#picks + 1] = {id, 'orphan'}
    elseif wrong(key, 'hash') then
      return nil, 0, refuse(WRONG)
    elseif not lane(key) then
      if not group then
        picks[#picks + 1] = {id, 'flat'}
        n = n + 1
      end
    elseif laneof(key) and (not group or laneof(key) == group) then
      picks[#picks + 1] = {id, 'lane'}
      n = n + 1
    end
  end
  return picks, n
end

-- openlanes returns the refusal of picks whose lanes cannot be looked at.
local function openlanes(base, picks)
  local bad
  for _, pick in ipairs(picks) do
    if pick[2] == 'lane' then
      bad = bad or rota(base) or openlane(base, laneof(row(base, pick[1])))
    end
  end
  return bad
end

-- release makes a picked job pending that is in a set; leased tells that the set is active.
local function release(base, set, pick, leased)
  local id, key = pick[1], row(base, pick[1])
  redis.call('ZREM', set, id)
  if pick[2] == 'orphan' then return end
  redis.call('HSET', key, 'state', 'pending')
  if pick[2] == 'flat' then
    redis.call('ZADD', base .. 'pending', 0, id)
    return
  end
  local group = laneof(key)
  redis.call('ZADD', laneset(base, group), 0, id)
  if leased then live(base, group, -1) end
  turn(base, group)
end

-- baseof returns the base of a row key and the id.
local function baseof(key)
  local close = string.find(key, '}:', 1, true)
  return string.sub(key, 1, close + 1), string.sub(key, close + 6)
end

-- forget deletes a row with its sub-keys.
local function forget(key)
  local name = kind(key) == 'hash' and redis.call('HGET', key, 'dedup')
  if name then
    local base, id = baseof(key)
    local parked = base .. 'de:' .. name
    if kind(parked) == 'string' and redis.call('GET', parked) == id then redis.call('DEL', parked) end
  end
  redis.call('DEL', key)
  for _, sub in ipairs(SUBS) do redis.call('DEL', key .. sub) end
end

-- failed returns the count of failures with one more, or a refusal.
local function failed(job)
  if redis.call('HEXISTS', job, 'failures') == 1 or redis.call('HEXISTS', job, 'lease_epoch') == 1 then
    local held, bad = counter(job, 'failures', 1)
    if bad then return nil, bad end
    return tonumber(held) + 1
  end
  local held, bad = counter(job, 'attempts', 0)
  if bad then return nil, bad end
  return math.max(tonumber(held) - 1, 0) + 1
end

-- signal leaves the failure of a child for its parent.
local function signal(base, id, text)
  local key = row(base, id)
  local queue = redis.call('HGET', key, 'parent_queue') or string.match(base, '{(.*)}')
  local policy = redis.call('HGET', key, 'parent_policy') or ''
  redis.call('RPUSH', base .. 'flow:outbox',
    table.concat({'', 'fail', queue, redis.call('HGET', key, 'parent'), id, policy, text}, '\0'))
end

-- Flows.

local NOTES = {done = ':processed', ignored = ':unsuccessful', fatal = ':failed'}
local OTHER = 'EMQFLOW job has another parent'

local function failedas(policy)
  if policy == 'id' then return 'ignored' end
  return 'fatal'
end

local function awaiting(key) return redis.call('HGET', key, 'state') == 'awaiting_children' end

-- checkparent returns the refusal of a job that does not name the row at key as its parent.
local function checkparent(base, job, key)
  local id = redis.call('HGET', job, 'parent')
  if not id then return refuse('EMQFLOW job has no parent') end
  local queue = redis.call('HGET', job, 'parent_queue')
  if queue then
    if queue == '' or string.find(queue, '[{}%z]') then return refuse(OTHER) end
    base = 'emq:{' .. queue .. '}:'
  end
  if row(base, id) ~= key then return refuse(OTHER) end
end

-- told reports whether a parent has counted the end of a child.
local function told(key, child)
  for _, note in ipairs({':processed', ':unsuccessful'}) do
    if wrong(key .. note, 'hash') then return false, refuse(WRONG) end
    if redis.call('HEXISTS', key .. note, child) == 1 then return true end
  end
  return false
end

local function openchildren(key)
  if wrong(key .. ':dependencies', 'string') then return nil, refuse(WRONG) end
  local n = redis.call('GET', key .. ':dependencies') or '0'
  if not integer(n) then return nil, refuse('ERR value is not an integer or out of range') end
  return math.max(tonumber(n), 0)
end

-- step prepares what the end of a child does to the parent at key.
local function step(key, child, text, how)
  local s = {key = key, child = child, text = text}
  if wrong(key, 'hash') then return s, refuse(WRONG) end
  if kind(key) == 'none' then return s end
  local seen, bad = told(key, child)
  if bad or seen then return s, bad end
  s.note = key .. NOTES[how]
  if wrong(s.note, 'hash') then return s, refuse(WRONG) end
  if redis.call('HEXISTS', s.note, child) == 1 then return s end
  s.acts = true
  local base = baseof(key)
  local held = awaiting(key)
  local state, set = 'dead', base .. 'dead'
  if how ~= 'fatal' then
    local n
    n, bad = openchildren(key)
    if bad then return s, bad end
    if n > 0 then s.open = n - 1 end
    held = held and n <= 1
    state, set = 'pending', base .. 'pending'
  end
  if not held then return s end
  if wrong(set, 'zset') then return s, refuse(WRONG) end
  s.state, s.set = state, set
  return s
end

local function apply(s)
  if not s.acts then return end
  redis.call('HSET', s.note, s.child, s.text)
  if s.open then redis.call('SET', s.key .. ':dependencies', score(s.open)) end
  if s.state then
    local _, id = baseof(s.key)
    redis.call('HSET', s.key, 'state', s.state)
    redis.call('ZADD', s.set, 0, id)
  end
end

-- climb prepares a failure for the ancestors whose keys are given, in order.
local function climb(keys, child, text, how)
  local steps = {}
  for i, key in ipairs(keys) do
    local s, bad = step(key, child, text, how)
    if bad then return nil, bad end
    steps[i] = s
    local base, id = baseof(key)
    if s.state ~= 'dead' or redis.call('HEXISTS', key, 'parent') == 0 then return steps end
    if i == #keys then
      if wrong(base .. 'flow:outbox', 'list') then return nil, refuse(WRONG) end
      steps.signal = true
      return steps
    end
    bad = checkparent(base, key, keys[i + 1])
    if bad then return nil, bad end
    child, how = id, failedas(redis.call('HGET', key, 'parent_policy'))
  end
  return steps
end

local function fall(steps)
  for _, s in ipairs(steps) do apply(s) end
  if steps.signal then
    local last = steps[#steps]
    local base, id = baseof(last.key)
    signal(base, id, last.text)
  end
end

-- plant writes the row of a node of a flow; it is held when it has children.
local function plant(key, payload, children, parent, policy)
  local base = baseof(key)
  redis.call('HSET', key, 'state', children > 0 and 'awaiting_children' or 'pending', 'attempts', '0', 'payload', payload)
  if parent then
    local home, id = baseof(parent)
    redis.call('HSET', key, 'parent', id, 'parent_policy', string.lower(policy))
    if home ~= base then redis.call('HSET', key, 'parent_queue', string.match(home, '{(.*)}')) end
  end
  if children == 0 then return end
  for _, note in pairs(NOTES) do redis.call('DEL', key .. note) end
  redis.call('SET', key .. ':dependencies', score(children))
end

local function isjob(id) return string.sub(id, 1, 3) == 'JOB' end

local JOBKIND = 'EMQKIND job id must be JOB-namespaced'
