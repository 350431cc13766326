package server

import "sync"

// Config is every setting of a server. The tags of a field are all that is known about its
// setting, and everything that lists settings (flags, environment, the file, CONFIG, help and the
// reference page) derives from them:
//
//	name     Valkey's name where Valkey has one
//	default  the value in the file's notation
//	group    the heading in help and in the reference
//	help     one sentence
//	kind     memory, octal; without it the kind is the field's type
//	range    least,greatest
//	enum     the values accepted, with commas
//	live     yes: CONFIG SET may change it; apply: it may once the server has registered what to
//	         do (OnSet); protected: never from a client; without it: fixed at start
//	alias    older names, with commas
//	store    the field of store.Limits that follows the setting
//	hidden   not in --help, in the reference only
//	source   file: neither flag nor variable, and not in CONFIG
//	clamp    least,greatest: what is beyond is held at the border
//
// Once a server runs, the fields are guarded by the keyspace lock.
type Config struct {
	Port           int      `name:"port" default:"6390" group:"network" range:"0,65535" help:"TCP port; 0 for none"`
	Bind           []string `name:"bind" default:"127.0.0.1 -::1" group:"network" help:"addresses to listen on; one with a leading - may be missing; * and ::* are all; auto is all when a password or an ACL is set, else loopback"`
	UnixSocket     string   `name:"unixsocket" default:"" group:"network" help:"path of a Unix socket to listen on"`
	UnixSocketPerm int      `name:"unixsocketperm" default:"0" group:"network" kind:"octal" range:"0,511" help:"mode of the Unix socket, octal; 0 leaves it to the umask"`
	TCPBacklog     int      `name:"tcp-backlog" default:"511" group:"accepted" hidden:"yes" range:"0,2147483647" help:"no effect: the system's limit applies (net.core.somaxconn)"`
	TCPKeepAlive   int      `name:"tcp-keepalive" default:"300" group:"network" range:"0,2147483647" live:"yes" help:"seconds between TCP keep-alives; 0 for none"`
	Timeout        int      `name:"timeout" default:"0" group:"network" range:"0,2147483647" live:"yes" help:"seconds after which an idle client is closed; 0 for never"`
	MaxClients     int64    `name:"maxclients" default:"10000" group:"network" range:"1,4294967295" live:"yes" help:"clients connected at once"`
	ProtectedMode  bool     `name:"protected-mode" default:"yes" group:"network" live:"yes" help:"refuse to start beyond loopback without a password or an ACL"`

	TLSPort        int      `name:"tls-port" default:"0" group:"tls" range:"0,65535" help:"TCP port for TLS; 0 for none"`
	TLSCertFile    string   `name:"tls-cert-file" default:"" group:"tls" help:"server certificate, PEM"`
	TLSKeyFile     string   `name:"tls-key-file" default:"" group:"tls" help:"key of the server certificate, PEM"`
	TLSCACertFile  string   `name:"tls-ca-cert-file" default:"" group:"tls" help:"authorities that client certificates are checked against, PEM"`
	TLSAuthClients string   `name:"tls-auth-clients" default:"yes" group:"tls" enum:"no,yes,optional" help:"whether clients must show a certificate"`
	TLSProtocols   []string `name:"tls-protocols" default:"" group:"tls" help:"versions served, of TLSv1.2 and TLSv1.3; empty for both"`

	RequirePass        string `name:"requirepass" default:"" group:"access" live:"apply" secret:"yes" help:"password of the default user"`
	ACLFile            string `name:"aclfile" default:"" group:"access" help:"file of users, as ACL SAVE writes it"`
	Users              users  `name:"user" group:"access" source:"file" help:"a user and its rules, as in ACL SETUSER; one user a line, not together with aclfile"`
	ACLPubSubDefault   string `name:"acl-pubsub-default" default:"resetchannels" group:"access" enum:"allchannels,resetchannels" live:"yes" help:"channels that a new user may use"`
	ACLLogMaxLen       int64  `name:"acllog-max-len" default:"128" group:"access" range:"0,9223372036854775807" live:"yes" help:"refusals kept for ACL LOG"`
	EnableDebugCommand string `name:"enable-debug-command" default:"no" group:"access" enum:"no,yes,local" help:"who may use DEBUG; local for clients from this machine"`

	MaxMemory              int64        `name:"maxmemory" default:"0" group:"limits" kind:"memory" range:"0,9223372036854775807" live:"yes" help:"memory from which growing commands are refused; 0 for no limit"`
	MaxMemoryPolicy        string       `name:"maxmemory-policy" default:"noeviction" group:"limits" enum:"noeviction" live:"yes" help:"what happens at maxmemory: jobs are never evicted"`
	AdmissionReserve       Reserve      `name:"emq-admission-reserve" default:"5%" group:"limits" live:"yes" help:"part of maxmemory, in per cent or bytes, that new jobs may not use, so that a full node can drain"`
	MaxMemoryClients       Reserve      `name:"maxmemory-clients" default:"0" group:"limits" live:"yes" help:"memory of all clients, in bytes or per cent of maxmemory, from which those that take most are closed; 0 for no limit"`
	ProtoMaxBulkLen        int64        `name:"proto-max-bulk-len" default:"512mb" group:"limits" kind:"memory" range:"1048576,9223372036854775807" live:"yes" store:"StringMax" help:"longest argument of a request"`
	ClientQueryBufferLimit int64        `name:"client-query-buffer-limit" default:"1gb" group:"limits" kind:"memory" range:"1048576,9223372036854775807" live:"yes" help:"input kept for one client"`
	ClientOutputLimits     OutputLimits `name:"client-output-buffer-limit" default:"normal 0 0 0 replica 256mb 64mb 60 pubsub 32mb 8mb 60" group:"limits" live:"yes" help:"output kept for a client, by class: class, hard limit, soft limit, seconds over the soft one; 0 for no limit"`
	TrackingTableMaxKeys   int64        `name:"tracking-table-max-keys" default:"1000000" group:"limits" range:"0,9223372036854775807" live:"yes" help:"keys remembered for client-side caching; 0 for no limit"`
	Databases              int          `name:"databases" default:"16" group:"limits" range:"1,16384" help:"databases for SELECT"`

	LogLevel  string `name:"loglevel" default:"notice" group:"log" enum:"debug,verbose,notice,warning" live:"yes" help:"least level logged"`
	LogFile   string `name:"logfile" default:"" group:"log" help:"file to log to; empty for standard error"`
	LogFormat string `name:"log-format" default:"text" group:"log" enum:"text,json" help:"form of a log line"`

	SlowlogLogSlowerThan    int64       `name:"slowlog-log-slower-than" default:"10000" group:"watch" range:"-1,9223372036854775807" live:"yes" help:"microseconds from which a command is in SLOWLOG; -1 for none"`
	SlowlogMaxLen           int64       `name:"slowlog-max-len" default:"128" group:"watch" range:"0,9223372036854775807" live:"yes" help:"entries kept for SLOWLOG"`
	LatencyMonitorThreshold int64       `name:"latency-monitor-threshold" default:"0" group:"watch" range:"0,9223372036854775807" live:"yes" help:"milliseconds from which an event is in LATENCY; 0 for none"`
	LatencyTracking         bool        `name:"latency-tracking" default:"yes" group:"watch" live:"yes" help:"keep the latency distribution of each command"`
	LatencyPercentiles      percentiles `name:"latency-tracking-info-percentiles" default:"50 99 99.9" group:"watch" live:"yes" help:"percentiles in INFO latencystats"`
	KeyEvents               KeyEvents   `name:"notify-keyspace-events" default:"" group:"watch" live:"yes" help:"classes of keyspace events published, as letters: K E g $ l s h z x e t d m n A"`
	EMQEvents               bool        `name:"emq-events" default:"no" group:"watch" live:"yes" help:"publish each transition of a job on its queue's events channel"`

	Install                  bool       `name:"install" default:"no" group:"data" help:"install the EchoMQ wire version at start where none is"`
	Dir                      string     `name:"dir" default:"." group:"data" live:"protected" help:"directory of the data"`
	AppendOnly               bool       `name:"appendonly" default:"yes" group:"data" live:"apply" help:"keep the data on disk, in a log; no loses it with the process"`
	AppendFsync              string     `name:"appendfsync" default:"always" group:"data" enum:"everysec,always,no" live:"yes" help:"when the log is forced to disk: before each reply, every second, or when the system does"`
	AppendDirName            string     `name:"appenddirname" default:"appendonlydir" group:"data" help:"directory of the log below dir"`
	AppendFilename           string     `name:"appendfilename" default:"appendonly.aof" group:"data" help:"first part of the names of the log's files"`
	AOFLoadTruncated         bool       `name:"aof-load-truncated" default:"yes" group:"data" live:"yes" help:"start on a log whose last record was not finished; no refuses to"`
	Save                     savePoints `name:"save" default:"" group:"data" live:"yes" help:"pairs of seconds and changes: a snapshot is written when so many changes are that old"`
	StopWritesOnBgsaveError  bool       `name:"stop-writes-on-bgsave-error" default:"yes" group:"data" live:"yes" help:"refuse writes while there are save points and the last snapshot in the background has failed"`
	DBFilename               string     `name:"dbfilename" default:"dump.rdb" group:"data" live:"protected" help:"file of snapshots below dir"`
	RDBCompression           bool       `name:"rdbcompression" default:"yes" group:"data" live:"yes" help:"compress strings in snapshots and bases of the log"`
	AutoAOFRewritePercentage int64      `name:"auto-aof-rewrite-percentage" default:"100" group:"data" range:"0,2147483647" live:"yes" help:"growth of the log beyond its base, in per cent, from which it is written anew; 0 for never"`
	AutoAOFRewriteMinSize    int64      `name:"auto-aof-rewrite-min-size" default:"64mb" group:"data" kind:"memory" range:"0,9223372036854775807" live:"yes" help:"size below which the log is not written anew by itself"`

	HashMaxListpackEntries int64 `name:"hash-max-listpack-entries" alias:"hash-max-ziplist-entries" default:"512" group:"encodings" range:"0,9223372036854775807" live:"yes" store:"HashEntries" help:"fields of a hash kept packed"`
	HashMaxListpackValue   int64 `name:"hash-max-listpack-value" alias:"hash-max-ziplist-value" default:"64" group:"encodings" kind:"memory" range:"0,9223372036854775807" live:"yes" store:"HashValue" help:"bytes of a field or value of a packed hash"`
	ZSetMaxListpackEntries int64 `name:"zset-max-listpack-entries" alias:"zset-max-ziplist-entries" default:"128" group:"encodings" range:"0,9223372036854775807" live:"yes" store:"ZSetEntries" help:"members of a sorted set kept packed"`
	ZSetMaxListpackValue   int64 `name:"zset-max-listpack-value" alias:"zset-max-ziplist-value" default:"64" group:"encodings" kind:"memory" range:"0,9223372036854775807" live:"yes" store:"ZSetValue" help:"bytes of a member of a packed sorted set"`
	SetMaxIntsetEntries    int64 `name:"set-max-intset-entries" default:"512" group:"encodings" range:"0,9223372036854775807" live:"yes" store:"SetIntEntries" help:"integers of a set kept as an array"`
	SetMaxListpackEntries  int64 `name:"set-max-listpack-entries" default:"128" group:"encodings" range:"0,9223372036854775807" live:"yes" store:"SetEntries" help:"members of a set kept packed"`
	SetMaxListpackValue    int64 `name:"set-max-listpack-value" default:"64" group:"encodings" kind:"memory" range:"0,9223372036854775807" live:"yes" store:"SetValue" help:"bytes of a member of a packed set"`
	ListMaxListpackSize    int   `name:"list-max-listpack-size" alias:"list-max-ziplist-size" default:"-2" group:"encodings" range:"-2147483648,2147483647" live:"yes" store:"ListSize" help:"elements of a packed list; -1 to -5 for 4 to 64 kb"`
	StreamNodeMaxBytes     int64 `name:"stream-node-max-bytes" default:"4096" group:"encodings" kind:"memory" range:"0,9223372036854775807" live:"yes" store:"StreamNodeBytes" help:"bytes of a node of a stream; 0 for no limit"`
	StreamNodeMaxEntries   int64 `name:"stream-node-max-entries" default:"100" group:"encodings" range:"0,9223372036854775807" live:"yes" store:"StreamNodeEntries" help:"entries of a node of a stream; 0 for no limit"`

	Pump           Interval `name:"pump" default:"0" group:"background" live:"apply" help:"how often the node itself moves jobs that are due, such as 250ms; 0 leaves them to the workers"`
	PumpMaxStalled int64    `name:"pump-max-stalled" default:"3" group:"background" range:"1,9223372036854775807" live:"yes" help:"stalls at which the pump makes a job dead"`
	PumpBatch      int      `name:"pump-batch" default:"100" group:"background" range:"1,256" live:"yes" help:"jobs of one queue that the pump moves in one step"`

	Hz                   int    `name:"hz" default:"10" group:"background" range:"-2147483648,2147483647" clamp:"1,500" live:"yes" help:"rounds of background work a second, held between 1 and 500"`
	DynamicHz            bool   `name:"dynamic-hz" default:"yes" group:"accepted" hidden:"yes" live:"yes" help:"no effect"`
	ActiveExpireEffort   int    `name:"active-expire-effort" default:"1" group:"background" range:"1,10" live:"yes" help:"how eagerly expired keys are looked for"`
	ActiveRehashing      bool   `name:"activerehashing" default:"yes" group:"accepted" hidden:"yes" live:"yes" help:"no effect: tables always grow step by step"`
	ListCompressDepth    int    `name:"list-compress-depth" default:"0" group:"accepted" hidden:"yes" range:"0,2147483647" live:"yes" help:"no effect: lists are not compressed"`
	LazyfreeLazyEviction bool   `name:"lazyfree-lazy-eviction" default:"yes" group:"accepted" hidden:"yes" live:"yes" help:"no effect: nothing is evicted"`
	LazyfreeLazyExpire   bool   `name:"lazyfree-lazy-expire" default:"yes" group:"accepted" hidden:"yes" live:"yes" help:"no effect: large values are always reclaimed step by step"`
	LazyfreeServerDel    bool   `name:"lazyfree-lazy-server-del" default:"yes" group:"accepted" hidden:"yes" live:"yes" help:"no effect: as lazyfree-lazy-expire"`
	LazyfreeUserDel      bool   `name:"lazyfree-lazy-user-del" default:"yes" group:"accepted" hidden:"yes" live:"yes" help:"no effect: as lazyfree-lazy-expire"`
	LazyfreeUserFlush    bool   `name:"lazyfree-lazy-user-flush" default:"yes" group:"accepted" hidden:"yes" live:"yes" help:"no effect: as lazyfree-lazy-expire"`
	MaxMemorySamples     int    `name:"maxmemory-samples" default:"5" group:"accepted" hidden:"yes" range:"1,64" live:"yes" help:"no effect: nothing is evicted"`
	IOThreads            int    `name:"io-threads" default:"1" group:"accepted" hidden:"yes" range:"1,256" help:"no effect: one loop serves all"`
	SanitizeDumpPayload  string `name:"sanitize-dump-payload" default:"yes" group:"accepted" hidden:"yes" enum:"no,yes,clients" live:"yes" help:"no effect: every dump is checked"`
	RDBChecksum          bool   `name:"rdbchecksum" default:"yes" group:"accepted" hidden:"yes" help:"no effect: the checksum is always written"`
	AOFUseRDBPreamble    bool   `name:"aof-use-rdb-preamble" default:"yes" group:"accepted" hidden:"yes" live:"yes" help:"no effect: a base is always an RDB file, and any base is read"`
	AOFTimestamps        bool   `name:"aof-timestamp-enabled" default:"no" group:"accepted" hidden:"yes" live:"yes" help:"no effect: no timestamps are written, and those of other servers are passed over"`
	NoFsyncOnRewrite     bool   `name:"no-appendfsync-on-rewrite" default:"no" group:"accepted" hidden:"yes" live:"yes" help:"no effect: what appendfsync promises holds always"`
	Daemonize            string `name:"daemonize" default:"no" group:"accepted" hidden:"yes" enum:"no" help:"emqd stays in the foreground"`
	Supervised           string `name:"supervised" default:"no" group:"accepted" hidden:"yes" enum:"no" help:"emqd stays in the foreground and signals nobody"`

	file     string                           // the configuration file, absolute; empty without one
	included map[string]bool                  // settings that a file included by it names
	warnings []string                         // what the operator should know at start
	hooks    map[string]func(c *Config) error // by setting name
}

// NewConfig returns the defaults.
func NewConfig() *Config {
	c := &Config{hooks: map[string]func(*Config) error{}, included: map[string]bool{}}
	for _, s := range settings() {
		if s.alias {
			continue
		}
		if err := s.parse(c, s.defaults()); err != nil {
			panic("server: default of " + s.Name + ": " + err.Error())
		}
	}
	return c
}

// File returns the absolute path of the configuration file, empty when there is none.
func (c *Config) File() string { return c.file }

// OnSet registers what to do after CONFIG SET changed the setting called name; the new value is
// already in c. An error undoes the change, and its text is the client's. It also opens a setting
// tagged live:"apply" to CONFIG SET. To be called before the server runs.
func (c *Config) OnSet(name string, apply func(c *Config) error) {
	s := lookup(name)
	if s == nil {
		panic("server: no setting " + name)
	}
	c.hooks[s.key] = apply
}

// settings is the table of all settings, aliases included, in the order of Config's fields.
var settings = sync.OnceValue(describe)
