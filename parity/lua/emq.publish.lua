local events = KEYS[1]
local no = fence()
if no then return no end
local ESCAPES = {['"'] = '\\"', ['\\'] = '\\\\', ['\n'] = '\\n', ['\r'] = '\\r', ['\t'] = '\\t'}
local function quoted(text) return '"' .. string.gsub(text, '["\\\n\r\t]', ESCAPES) .. '"' end
local parts = {'"event":' .. quoted(ARGV[1]), '"job":' .. quoted(ARGV[2])}
for i = 3, #ARGV - 2, 2 do parts[#parts + 1] = quoted(ARGV[i]) .. ':' .. quoted(ARGV[i + 1]) end
return redis.call('PUBLISH', events, '{' .. table.concat(parts, ',') .. '}')
