package bench

// The scripts do on a server without the job verbs what these do, with the checks that keep a queue sound and no more:
// the version of the wire, no job twice, no claim in a paused queue, no settling without the token. Their keys and
// arguments are those of the verbs.
var scripts = map[string]string{
	"EMQ.ENQUEUE": fenced + `if redis.call('EXISTS',KEYS[1])==1 then return 0 end
redis.call('HSET',KEYS[1],'state','pending','attempts','0','payload',ARGV[2])
redis.call('ZADD',KEYS[2],0,ARGV[1]) return 1`,

	"EMQ.CLAIM": fenced + `if redis.call('HEXISTS',KEYS[3]..'meta','paused')==1 then return {} end
local m=redis.call('ZPOPMIN',KEYS[1]) local id=m[1] if not id then return {} end
local t=redis.call('TIME') local job=KEYS[3]..'job:'..id local n=redis.call('HINCRBY',job,'attempts',1)
redis.call('HSET',job,'state','active')
redis.call('ZADD',KEYS[2],t[1]*1000+math.floor(t[2]/1000)+ARGV[1],id)
return {id,redis.call('HGET',job,'payload'),n}`,

	"EMQ.COMPLETE": fenced + `local n=redis.call('HGET',KEYS[2],'attempts') if not n then return 0 end
if n~=ARGV[2] then return redis.error_reply('EMQSTALE complete token mismatch') end
redis.call('ZREM',KEYS[1],ARGV[1]) redis.call('DEL',KEYS[2])
redis.call('HINCRBY',KEYS[3]..'metrics:completed','count',1) return 1`,

	"EMQ.EXTEND": fenced + `local n=redis.call('HGET',KEYS[2],'attempts') if not n then return -1 end
if n~=ARGV[2] then return redis.error_reply('EMQSTALE extend token mismatch') end
local t=redis.call('TIME')
redis.call('ZADD',KEYS[1],'XX',t[1]*1000+math.floor(t[2]/1000)+ARGV[3],ARGV[1]) return 1`,

	"EMQ.SCHEDULE": fenced + `if redis.call('EXISTS',KEYS[1])==1 then return 0 end
local t=redis.call('TIME')
redis.call('HSET',KEYS[1],'state','scheduled','attempts','0','payload',ARGV[2])
redis.call('ZADD',KEYS[2],t[1]*1000+math.floor(t[2]/1000)+ARGV[4],ARGV[1]) return 1`,

	"EMQ.REQUEUE": fenced + `if redis.call('HGET',KEYS[3],'attempts')~=ARGV[2] then return redis.error_reply('EMQSTALE requeue token mismatch') end
if redis.call('ZREM',KEYS[1],ARGV[1])==0 then return redis.error_reply('EMQSTALE requeue lease not held') end
redis.call('HSET',KEYS[3],'state','pending') redis.call('ZADD',KEYS[2],0,ARGV[1]) return 1`,

	"EMQ.FAIL": fenced + `if redis.call('HGET',KEYS[4],'attempts')~=ARGV[2] then return redis.error_reply('EMQSTALE retry token mismatch') end
if redis.call('ZREM',KEYS[1],ARGV[1])==0 then return redis.error_reply('EMQSTALE retry lease not held') end
local f=redis.call('HINCRBY',KEYS[4],'failures',1) redis.call('HSET',KEYS[4],'last_error',ARGV[5])
if f>=tonumber(ARGV[4]) then redis.call('HSET',KEYS[4],'state','dead') redis.call('ZADD',KEYS[3],0,ARGV[1])
redis.call('HINCRBY',KEYS[5]..'metrics:failed','count',1) return 'dead' end
local t=redis.call('TIME') redis.call('HSET',KEYS[4],'state','scheduled')
redis.call('ZADD',KEYS[2],t[1]*1000+math.floor(t[2]/1000)+ARGV[3],ARGV[1]) return 'scheduled'`,

	"EMQ.GROUP.ENQUEUE": fenced + serve + `if redis.call('EXISTS',KEYS[1])==1 then return 0 end
redis.call('HSET',KEYS[1],'state','pending','attempts','0','payload',ARGV[2],'group',ARGV[3])
redis.call('ZADD',KEYS[2],0,ARGV[1])
if redis.call('ZCARD',KEYS[2])==1 then serve(KEYS[3],ARGV[3]) end return 1`,

	"EMQ.GROUP.CLAIM": fenced + serve + `local base=KEYS[3]
if redis.call('HEXISTS',base..'meta','paused')==1 then return {} end
local g=redis.call('LMOVE',KEYS[1],KEYS[1],'LEFT','RIGHT') if not g then return {} end
local lane=base..'g:'..g..':pending' local id=redis.call('ZPOPMIN',lane)[1]
if not id then redis.call('LREM',KEYS[1],1,g) return {} end
local t=redis.call('TIME') local job=base..'job:'..id local n=redis.call('HINCRBY',job,'attempts',1)
redis.call('HSET',job,'state','active') redis.call('ZADD',KEYS[2],t[1]*1000+math.floor(t[2]/1000)+ARGV[1],id)
local live,max=redis.call('HINCRBY',base..'gactive',g,1),redis.call('HGET',base..'glimit',g)
if redis.call('EXISTS',lane)==0 or max and live>=tonumber(max) then redis.call('LREM',KEYS[1],-1,g) end
return {id,redis.call('HGET',job,'payload'),n,g}`,

	"EMQ.GROUP.COMPLETE": fenced + serve + `local r=redis.call('HMGET',KEYS[2],'attempts','group') local g=r[2] if not r[1] then return 0 end
if r[1]~=ARGV[2] then return redis.error_reply('EMQSTALE complete token mismatch') end
redis.call('ZREM',KEYS[1],ARGV[1]) redis.call('DEL',KEYS[2])
redis.call('HINCRBY',KEYS[3]..'metrics:completed','count',1)
if redis.call('HINCRBY',KEYS[3]..'gactive',g,-1)==0 then redis.call('HDEL',KEYS[3]..'gactive',g) end
if redis.call('HEXISTS',KEYS[3]..'glimit',g)==1 then redis.call('LREM',KEYS[3]..'ring',1,g) serve(KEYS[3],g) end return 1`,

	"EMQ.FLOW.ADD": fenced + `for _,k in ipairs(KEYS) do if redis.call('EXISTS',k)==1 then return 0 end end
local base=string.sub(KEYS[1],1,-#ARGV[1]-5) local rows={}
for i,k in ipairs(KEYS) do local id,pay,up,pol=ARGV[4*i-3],ARGV[4*i-2],ARGV[4*i-1],ARGV[4*i] rows[id]=k
if i==1 then redis.call('HSET',k,'state','awaiting_children','attempts','0','payload',pay)
redis.call('SET',k..':dependencies',#KEYS-1)
else redis.call('HSET',k,'state','pending','attempts','0','payload',pay,'parent',up,'parent_policy',pol)
redis.call('ZADD',base..'pending',0,id) end end return #KEYS-1`,

	"EMQ.FLOW.COMPLETE": fenced + `local r=redis.call('HMGET',KEYS[2],'attempts','parent') if not r[1] then return 0 end
if r[1]~=ARGV[2] then return redis.error_reply('EMQSTALE complete token mismatch') end
redis.call('ZREM',KEYS[1],ARGV[1]) redis.call('DEL',KEYS[2])
redis.call('HINCRBY',KEYS[3]..'metrics:completed','count',1)
if redis.call('HSETNX',KEYS[4]..':processed',ARGV[1],ARGV[3])==1 and redis.call('DECR',KEYS[4]..':dependencies')==0 then
redis.call('HSET',KEYS[4],'state','pending') redis.call('ZADD',KEYS[3]..'pending',0,r[2]) end return 1`,
}

// settleFlow completes a flow's parent, whose sub-keys go with it.
const settleFlow = fenced + `local n=redis.call('HGET',KEYS[2],'attempts') if not n then return 0 end
if n~=ARGV[2] then return redis.error_reply('EMQSTALE complete token mismatch') end
redis.call('ZREM',KEYS[1],ARGV[1]) redis.call('DEL',KEYS[2],KEYS[2]..':dependencies',KEYS[2]..':processed')
redis.call('HINCRBY',KEYS[3]..'metrics:completed','count',1) return 1`

const (
	fenceKey   = "{emq}:version"
	fenceValue = "echomq:6.0.0"

	fenced = `if redis.call('GET','` + fenceKey + `')~='` + fenceValue + `' then return redis.error_reply('EMQWIRE') end
`
	// serve puts a lane on the ring when it may be served.
	serve = `local function serve(base,g)
if redis.call('SISMEMBER',base..'paused',g)==1 or redis.call('EXISTS',base..'g:'..g..':pending')==0 then return end
local max=redis.call('HGET',base..'glimit',g)
if max and tonumber(redis.call('HGET',base..'gactive',g) or 0)>=tonumber(max) then return end
redis.call('RPUSH',base..'ring',g) redis.call('LPUSH',base..'wake',1) redis.call('LTRIM',base..'wake',0,63) end
`
)
