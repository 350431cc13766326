package server

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	wrongPass = "-WRONGPASS invalid username-password pair or user is disabled.\r\n"
	noAuth    = "-NOAUTH Authentication required.\r\n"
)

// ended waits for the server to close the connection.
func (c *client) ended() {
	c.t.Helper()
	_, err := c.r.Next()
	require.ErrorIs(c.t, err, io.EOF)
}

func bulk(s string) string {
	return "$" + strconv.Itoa(len(s)) + "\r\n" + s + "\r\n"
}

func TestAuth(t *testing.T) {
	addr := startServer(t, func(c *Config) { c.RequirePass = "secret" })
	c := dial(t, addr)
	require.Equal(t, noAuth, c.do("PING"))
	require.Equal(t, noAuth, c.do("ACL WHOAMI"))
	require.Equal(t, wrongPass, c.do("AUTH bad"))
	require.Equal(t, wrongPass, c.do("AUTH nosuch secret"))
	require.Equal(t, "-ERR syntax error\r\n", c.do("AUTH a b c"))
	require.Equal(t, "-ERR wrong number of arguments for 'auth' command\r\n", c.do("AUTH"))
	require.Contains(t, c.do("HELLO 3"), "-NOAUTH HELLO must be called with the client already authenticated, ")
	require.Equal(t, wrongPass, c.do("HELLO 3 AUTH default bad"))
	require.Equal(t, "-ERR Syntax error in HELLO option 'auth'\r\n", c.do("HELLO 3 auth default"))
	require.Equal(t, "-ERR Client names cannot contain spaces, newlines or special characters.\r\n",
		c.do(`HELLO 3 AUTH default secret SETNAME "a b"`))
	require.Equal(t, noAuth, c.do("PING"), "nothing of a refused HELLO is done")
	require.Contains(t, c.do("HELLO 3 AUTH default secret SETNAME me"), "%7\r\n")
	require.Equal(t, bulk("default"), c.do("ACL WHOAMI"))
	require.Equal(t, wrongPass, c.do("AUTH bad"))
	require.Equal(t, "+PONG\r\n", c.do("PING"), "a failure leaves the user as it was")
	require.Equal(t, "+RESET\r\n", c.do("RESET"))
	require.Equal(t, noAuth, c.do("PING"))
	require.Equal(t, "+OK\r\n", c.do("AUTH default secret"))
	require.Equal(t, "+OK\r\n", c.do("ACL SETUSER default nopass"))
	require.Equal(t, "+PONG\r\n", dial(t, addr).do("PING"))
	require.Contains(t, c.do("AUTH secret"), "-ERR AUTH <password> called without any password configured for the default user.")
	require.Equal(t, "+OK\r\n", c.do("ACL SETUSER default off"))
	require.Equal(t, noAuth, dial(t, addr).do("PING"))
}

func TestACLGate(t *testing.T) {
	addr := startServer(t)
	admin, c := dial(t, addr), dial(t, addr)
	require.Equal(t, "+OK\r\n", admin.do("ACL SETUSER bob on >x ~b:* &b:* +@hash +@transaction +@pubsub -hdel"))
	require.Equal(t, "+OK\r\n", c.do("AUTH bob x"))
	require.Equal(t, ":1\r\n", c.do("HSET b:1 a 1"))
	require.Equal(t, "-NOPERM No permissions to access a key\r\n", c.do("HSET c a 1"))
	require.Equal(t, "-NOPERM User bob has no permissions to run the 'hdel' command\r\n", c.do("HDEL b:1 a"))
	require.Equal(t, "-NOPERM User bob has no permissions to run the 'acl|whoami' command\r\n", c.do("ACL WHOAMI"))
	require.Equal(t, "-NOPERM No permissions to access a channel\r\n", c.do("PUBLISH c m"))
	require.Equal(t, ":0\r\n", c.do("PUBLISH b:c m"))
	require.Equal(t, "-ERR wrong number of arguments for 'hdel' command\r\n", c.do("HDEL b:1"), "arity comes first")

	require.Equal(t, "+OK\r\n", c.do("MULTI"))
	require.Equal(t, "-NOPERM No permissions to access a key\r\n", c.do("HGET c a"))
	require.Equal(t, "-EXECABORT Transaction discarded because of previous errors.\r\n", c.do("EXEC"))

	require.Equal(t, "+OK\r\n", c.do("MULTI"))
	require.Equal(t, "+QUEUED\r\n", c.do("HGET b:1 a"))
	require.Equal(t, "+QUEUED\r\n", c.do("HSET b:1 a 2"))
	require.Equal(t, "+OK\r\n", admin.do("ACL SETUSER bob -hset"))
	require.Equal(t, "*2\r\n$1\r\n1\r\n-NOPERM ACLs rules changed between the moment the transaction was accumulated and the "+
		"EXEC call. This command is no longer allowed for the following reason: no permission to execute the command or "+
		"subcommand\r\n", c.do("EXEC"))

	require.Equal(t, "+OK\r\n", admin.do("ACL DRYRUN bob HGET b:1 a"))
	require.Equal(t, bulk("User bob has no permissions to access the 'c' key"), admin.do("ACL DRYRUN bob HGET c a"))
	require.Equal(t, bulk("User bob has no permissions to run the 'hset' command"), admin.do("ACL DRYRUN bob HSET b:1 a 1"))
	require.Equal(t, "-ERR User 'x' not found\r\n", admin.do("ACL DRYRUN x HGET c a"))
	require.Equal(t, "-ERR Command 'x' not found\r\n", admin.do("ACL DRYRUN bob x"))
	require.Equal(t, "-ERR wrong number of arguments for 'hget' command\r\n", admin.do("ACL DRYRUN bob hget"))
}

func TestACLLogCommand(t *testing.T) {
	addr := startServer(t)
	admin, c := dial(t, addr), dial(t, addr)
	require.Equal(t, "+OK\r\n", admin.do("ACL SETUSER bob on >x ~b +hget +multi"))
	require.Equal(t, wrongPass, c.do("auth bob y"))
	require.Equal(t, wrongPass, c.do("auth bob y"))
	require.Equal(t, "+OK\r\n", c.do("AUTH bob x"))
	c.do("HGET c a")
	c.do("MULTI")
	c.do("ACL WHOAMI")
	log := admin.do("ACL LOG")
	require.True(t, strings.HasPrefix(log, "*3\r\n*20\r\n$5\r\ncount\r\n:1\r\n$6\r\nreason\r\n$7\r\ncommand\r\n"+
		"$7\r\ncontext\r\n$5\r\nmulti\r\n$6\r\nobject\r\n$10\r\nacl|whoami\r\n$8\r\nusername\r\n$3\r\nbob\r\n$11\r\nage-seconds\r\n"), log)
	require.Regexp(t, `\r\nclient-info\r\n\$\d+\r\nid=2 addr=\S+ laddr=\S+ fd=\d+ name= age=\d+ idle=\d+ flags=x db=0 sub=0 psub=0 `+
		`ssub=0 multi=0 watch=0 qbuf=\d+ qbuf-free=\d+ argv-mem=0 multi-mem=0 rbs=\d+ rbp=\d+ obl=\d+ oll=0 omem=0 tot-mem=\d+ events=\S+ `+
		`cmd=acl\|whoami user=bob redir=-1 resp=2 lib-name= lib-ver= tot-net-in=\d+ tot-net-out=\d+ tot-cmds=\d+\r\n\$8\r\nentry-id\r\n:2\r\n`, log)
	require.Contains(t, log, "key\r\n$7\r\ncontext\r\n$8\r\ntoplevel\r\n$6\r\nobject\r\n$1\r\nc\r\n")
	require.Contains(t, log, "count\r\n:2\r\n$6\r\nreason\r\n$4\r\nauth\r\n$7\r\ncontext\r\n$8\r\ntoplevel\r\n$6\r\nobject\r\n$4\r\nauth\r\n")
	require.True(t, strings.HasPrefix(admin.do("ACL LOG 1"), "*1\r\n"))
	require.Contains(t, admin.do("INFO stats"), "acl_access_denied_auth:2\r\nacl_access_denied_cmd:1\r\nacl_access_denied_key:1\r\n"+
		"acl_access_denied_channel:0\r\n")
	require.Equal(t, "*0\r\n", admin.do("ACL LOG -1"))
	require.Equal(t, "-ERR value is not an integer or out of range\r\n", admin.do("ACL LOG x"))
	require.Equal(t, "+OK\r\n", admin.do("ACL LOG reset"))
	require.Equal(t, "*0\r\n", admin.do("ACL LOG"))
}

func TestACLChangesCloseConnections(t *testing.T) {
	addr := startServer(t)
	admin := dial(t, addr)
	admin.do("ACL SETUSER bob on nopass allcommands &a* &b")
	login := func(lines ...string) *client {
		c := dial(t, addr)
		require.Equal(t, "+OK\r\n", c.do("AUTH bob x"))
		for _, line := range lines {
			c.do(line)
		}
		return c
	}
	plain := login()
	channel, pattern, other := login("SUBSCRIBE ab"), login("PSUBSCRIBE a*"), login("SUBSCRIBE b")
	require.Equal(t, "+OK\r\n", admin.do("ACL SETUSER bob resetchannels &b"))
	channel.ended()
	pattern.ended()
	require.Contains(t, other.do("PING"), "pong")
	require.Equal(t, "+PONG\r\n", plain.do("PING"))

	self := login("ACL WHOAMI")
	require.Equal(t, ":1\r\n", self.do("ACL DELUSER bob nosuch"), "the reply comes first")
	self.ended()
	plain.ended()
	other.ended()
	require.Equal(t, "$-1\r\n", admin.do("ACL GETUSER bob"))
	require.Equal(t, "-ERR The 'default' user cannot be removed\r\n", admin.do("ACL DELUSER default"))
}

func TestACLShow(t *testing.T) {
	c := dial(t, startServer(t))
	require.Equal(t, "+OK\r\n", c.do(`ACL SETUSER ann on nopass ~k %R~r &c +hget +@hash "(~s +hget)"`))
	require.Equal(t, "*2\r\n"+
		bulk("user ann on nopass sanitize-payload ~k %R~r resetchannels &c -@all +hget +@hash (~s resetchannels -@all +hget)")+
		bulk("user default on nopass sanitize-payload ~* &* +@all"), c.do("ACL LIST"))
	require.Equal(t, "*2\r\n$3\r\nann\r\n$7\r\ndefault\r\n", c.do("ACL USERS"))
	require.Contains(t, c.do("HELLO 3"), "%7")
	require.Equal(t, "%6\r\n$5\r\nflags\r\n~3\r\n$2\r\non\r\n$6\r\nnopass\r\n$16\r\nsanitize-payload\r\n$9\r\npasswords\r\n*0\r\n"+
		"$8\r\ncommands\r\n"+bulk("-@all +hget +@hash")+"$4\r\nkeys\r\n"+bulk("~k %R~r")+"$8\r\nchannels\r\n"+bulk("&c")+
		"$9\r\nselectors\r\n*1\r\n%3\r\n$8\r\ncommands\r\n"+bulk("-@all +hget")+"$4\r\nkeys\r\n"+bulk("~s")+"$8\r\nchannels\r\n"+bulk(""),
		c.do("ACL GETUSER ann"))
	require.True(t, strings.HasPrefix(c.do("ACL CAT"), "*22\r\n$8\r\nkeyspace\r\n$4\r\nread\r\n"))
	require.Equal(t, "*0\r\n", c.do("ACL CAT scripting"))
	require.Contains(t, c.do("ACL CAT Admin"), "$11\r\nacl|deluser\r\n")
	require.Equal(t, "-ERR Unknown category 'x'\r\n", c.do("ACL CAT x"))
	require.Equal(t, "-ERR unknown subcommand or wrong number of arguments for 'cat'. Try ACL HELP.\r\n", c.do("ACL cat a b"))
	require.Regexp(t, regexp.MustCompile(`^\$64\r\n[0-9a-f]{64}\r\n$`), c.do("ACL GENPASS"))
	require.Regexp(t, regexp.MustCompile(`^\$2\r\n[0-9a-f]{2}\r\n$`), c.do("ACL GENPASS 5"))
	require.Contains(t, c.do("ACL GENPASS 0"), "-ERR ACL GENPASS argument must be the number of bits for the output password, a positive number up to 4096")
	require.Equal(t, "-ERR value is not an integer or out of range\r\n", c.do("ACL GENPASS x"))
	require.Contains(t, c.do("ACL LOAD"), "-ERR This instance is not configured to use an ACL file.")
	require.Contains(t, c.do("ACL SAVE"), "-ERR This instance is not configured to use an ACL file.")
	require.Contains(t, c.do("ACL HELP"), "+SETUSER username [rule [rule ...]]\r\n")
}

func TestACLFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "users.acl")
	write := func(text string) { require.NoError(t, os.WriteFile(file, []byte(text), 0o640)) }
	write("user default on nopass ~* &* +@all\n\n\tuser ann on >x ~a (~b +hget) (~c +hset)\r\n")
	addr := startServer(t, func(c *Config) { c.ACLFile = file })
	c, ann := dial(t, addr), dial(t, addr)
	require.Equal(t, "+OK\r\n", ann.do("AUTH ann x"))
	before := c.do("ACL LIST")

	write("user default on\nann on\nuser ann on +nosuch +@nosuch x %\nuser bob on\nuser bob off\nuser x\ty\nuser eve (~a\n")
	require.Equal(t, "-ERR "+file+":2 should start with user keyword followed by the username. "+
		file+":3: Error in applying operation '+nosuch': Unknown command or category name in ACL. "+
		file+":3: Error in applying operation '+@nosuch': Unknown command or category name in ACL. "+
		file+":3: Syntax error. WARNING: Duplicate user 'bob' found on line 5. "+
		"'"+file+":6: username 'x\ty' contains invalid characters. "+file+":7: Unmatched parenthesis in selector definition."+
		"WARNING: ACL errors detected, no change to the previously active ACL rules was performed\r\n", c.do("ACL LOAD"))
	require.Equal(t, before, c.do("ACL LIST"))

	require.Equal(t, "+OK\r\n", c.do("ACL SAVE"))
	saved, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "user ann on sanitize-payload #2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881 ~a resetchannels -@all "+
		"(~b resetchannels -@all +hget) (~c resetchannels -@all +hset)\nuser default on nopass sanitize-payload ~* &* +@all\n", string(saved))
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o640), info.Mode().Perm())
	require.Equal(t, "+OK\r\n", c.do("ACL LOAD"))
	require.Equal(t, before, c.do("ACL LIST"))
	require.Contains(t, ann.do("HGET b f"), "$-1", "the connection stays and has its rules")

	write("user bob on nopass +@all\n")
	require.Equal(t, "+OK\r\n", c.do("ACL LOAD"))
	ann.ended()
	require.Equal(t, "*2\r\n$3\r\nbob\r\n$7\r\ndefault\r\n", c.do("ACL USERS"), "a file without the default user has it as new")

	require.NoError(t, os.Remove(file))
	require.Contains(t, c.do("ACL LOAD"), "-ERR Error loading ACLs, opening file '"+file+"': No such file or directory")
}

func TestACLConfiguredUsers(t *testing.T) {
	c := dial(t, startServer(t, func(c *Config) {
		c.RequirePass = "secret"
		c.Users = users{{"ann", "on", ">x", "(~a", "+hget)", "+@all"}, {"default", "on", "nopass", "+acl"}}
	}))
	require.Equal(t, "*2\r\n"+
		bulk("user ann on sanitize-payload #2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881 resetchannels +@all "+
			"(~a resetchannels -@all +hget)")+
		bulk("user default on nopass sanitize-payload resetchannels -@all +acl"), c.do("ACL LIST"))

	a := testACL()
	for want, lines := range map[string][][]string{
		`user "a": Duplicate user found. A user can only be defined once in config files`: {{"a"}, {"a"}},
		`user "a b": spaces are not allowed in names of users`:                            {{"a b"}},
		`user "a": rule "+x": Unknown command or category name in ACL`:                    {{"a", "+x"}},
		`user "a": Unmatched parenthesis in selector definition`:                          {{"a", "(~a"}},
	} {
		require.EqualError(t, a.loadLines(lines), want)
	}
	a.mustSet(t, "default -acl")
	b := testACL()
	require.NoError(t, b.loadLines(a.lines()))
	require.Equal(t, a.lines(), b.lines())
	require.Equal(t, "a", a.lines()[0][0])
	require.Len(t, a.lines(), 2)
	require.Empty(t, testACL().lines(), "the default user is as it was")
}

// TestACLOnAWaitingClient takes away the key that a parked client waits for.
func TestACLOnAWaitingClient(t *testing.T) {
	addr := startServer(t)
	admin, c := dial(t, addr), dial(t, addr)
	admin.do("ACL SETUSER bob on nopass +@all allkeys")
	require.Equal(t, "+OK\r\n", c.do("AUTH bob x"))
	c.send("BZPOPMIN z 0")
	for !strings.Contains(admin.do("CLIENT LIST"), "flags=b") {
	}
	admin.do("ACL SETUSER bob resetkeys")
	require.Equal(t, ":1\r\n", admin.do("ZADD z 1 a"))
	require.Equal(t, "-NOPERM No permissions to access a key\r\n", c.next())
	require.Equal(t, "+PONG\r\n", c.do("PING"))
	require.Equal(t, ":1\r\n", admin.do("ZCARD z"))
	require.Contains(t, admin.do("ACL LOG"), "$1\r\nz\r\n")
}

// A claimer whose rights are taken away while it waits takes nothing when a job comes, and the next one has it.
func TestACLOnAWaitingClaimer(t *testing.T) {
	for _, way := range []struct {
		name, acl, reply string
	}{
		{"keys", "ACL SETUSER bob resetkeys %R~{emq}:version", "-NOPERM No permissions to access a key\r\n"},
		{"keys to write", "ACL SETUSER bob resetkeys %R~*", "-NOPERM No permissions to access a key\r\n"},
		{"the fence", "ACL SETUSER bob resetkeys ~emq:*", "-NOPERM No permissions to access a key\r\n"},
		{"commands", "ACL SETUSER bob -@emq", "-NOPERM User bob has no permissions to run the 'emq.%sbclaim' command\r\n"},
		{"the user", "ACL DELUSER bob", ""},
	} {
		for _, kind := range []struct{ verb, claim, add string }{
			{"", "EMQ.BCLAIM 3 emq:{q}:pending emq:{q}:active emq:{q}: 60000 ", "EMQ.ENQUEUE 2 emq:{q}:job:JOB1 emq:{q}:pending JOB1 p"},
			{"group.", "EMQ.GROUP.BCLAIM 3 emq:{q}:ring emq:{q}:active emq:{q}: 60000 ",
				"EMQ.GROUP.ENQUEUE 3 emq:{q}:job:JOB1 emq:{q}:g:x:pending emq:{q}: JOB1 p x"},
		} {
			t.Run(way.name+" "+kind.verb, func(t *testing.T) {
				addr := startServer(t, func(c *Config) { c.Install = true })
				admin, bob, other := dial(t, addr), dial(t, addr), dial(t, addr)
				admin.do("ACL SETUSER bob on nopass +@all allkeys")
				require.Equal(t, "+OK\r\n", bob.do("AUTH bob x"))
				bob.send(kind.claim + "0")
				for field(admin.do("INFO clients"), "blocked_clients") != "1" {
				}
				other.send(kind.claim + "0")
				for field(admin.do("INFO clients"), "blocked_clients") != "2" {
				}
				require.NotContains(t, admin.do(way.acl), "-ERR")
				require.Equal(t, ":1\r\n", admin.do(kind.add))
				require.Contains(t, other.next(), "JOB1")
				require.Equal(t, ":1\r\n", admin.do("ZCARD emq:{q}:active"))
				if way.reply != "" { // a deleted user's connections are closed
					require.Equal(t, strings.ReplaceAll(way.reply, "%s", kind.verb), bob.next())
					require.Equal(t, "+PONG\r\n", bob.do("PING"))
				}
				require.Equal(t, way.reply == "", !strings.Contains(admin.do("CLIENT LIST"), "user=bob"))
			})
		}
	}
}

// A claimer without rights claims nothing on the last run that its timeout gives it either.
func TestACLOnAClaimerWhoseTimeIsUp(t *testing.T) {
	n := newPumped(t)
	require.Equal(t, "+OK", n.do("ACL SETUSER bob on nopass +@all allkeys"))
	require.Equal(t, "+OK", n.do("AUTH bob x"))
	bob := n.s
	bob.out = nil
	n.srv.dispatch(bob, splitArgs("EMQ.BCLAIM 3 emq:{q}:pending emq:{q}:active emq:{q}: 60000 1"))
	w := bob.waiting
	require.NotNil(t, w)
	n.s = n.srv.open(silent{}, "test:3", "test:2")
	require.Equal(t, "+OK", n.do("ACL SETUSER bob resetkeys"))
	n.srv.unpark(w) // so that the job comes without waking it
	n.enqueue("JOB1")
	bob.waiting = w
	n.srv.lapse(w)
	require.Equal(t, "-NOPERM No permissions to access a key\r\n", string(bob.out))
	require.Equal(t, ":1", n.do("ZCARD ~pending"))
}

func TestACLHidesSecrets(t *testing.T) {
	addr := startServer(t, func(c *Config) { c.SlowlogLogSlowerThan = 0 })
	watcher, c := dial(t, addr), dial(t, addr)
	require.Equal(t, "+OK\r\n", watcher.do("MONITOR"))
	c.do("AUTH default secret")
	require.Contains(t, watcher.next(), `"AUTH" "(redacted)" "(redacted)"`)
	c.do("HELLO 3 SETNAME auth AUTH default secret SETNAME me")
	require.Contains(t, watcher.next(), `"HELLO" "3" "SETNAME" "auth" "AUTH" "(redacted)" "(redacted)" "SETNAME" "me"`)
	c.do("HELLO 2")
	require.Contains(t, watcher.next(), `"HELLO" "2"`)
	c.do("ACL SETUSER bob >secret")
	c.do("CONFIG SET timeout 0 RequirePass secret")
	log := c.do("SLOWLOG GET")
	require.Contains(t, log, "*6\r\n$6\r\nCONFIG\r\n$3\r\nSET\r\n$7\r\ntimeout\r\n$1\r\n0\r\n$11\r\nRequirePass\r\n$10\r\n(redacted)\r\n")
	require.NotContains(t, log, "secret")
	require.Contains(t, log, "*4\r\n$3\r\nACL\r\n$7\r\nSETUSER\r\n$10\r\n(redacted)\r\n$10\r\n(redacted)\r\n")
}

// TestACLWorker gives a worker the rights that the manual names.
func TestACLWorker(t *testing.T) {
	addr := startServer(t, func(c *Config) { c.Install = true })
	admin, c := dial(t, addr), dial(t, addr)
	require.Equal(t, "+OK\r\n", admin.do("ACL SETUSER worker on >secret ~emq:{mail}:* &emq:{mail}:* +@emq +@connection"))
	require.Equal(t, "+OK\r\n", c.do("AUTH worker secret"))
	const claim = "EMQ.CLAIM 3 emq:{mail}:pending emq:{mail}:active emq:{mail}: 30000"
	require.Equal(t, "-NOPERM No permissions to access a key\r\n", c.do(claim), "the fence cannot be read")
	require.Contains(t, admin.do("ACL LOG"), "$6\r\nreason\r\n$3\r\nkey\r\n$7\r\ncontext\r\n$8\r\ntoplevel\r\n$6\r\nobject\r\n$13\r\n{emq}:version\r\n")
	require.Equal(t, "+OK\r\n", admin.do("ACL SETUSER worker %R~{emq}:version"))
	require.Equal(t, "*0\r\n", c.do(claim))
	require.Equal(t, "-NOPERM No permissions to access a key\r\n", c.do(strings.ReplaceAll(claim, "mail", "other")))
	require.Equal(t, "-NOPERM User worker has no permissions to run the 'get' command\r\n", c.do("GET {emq}:version"))
	require.Equal(t, "+OK\r\n", c.do("EMQ.INSTALL"), "it is there")
	require.Equal(t, ":1\r\n", admin.do("DEL {emq}:version"))
	require.Equal(t, "-NOPERM No permissions to access a key\r\n", c.do("EMQ.INSTALL"), "the fence cannot be written")
	require.Equal(t, "$-1\r\n", admin.do("GET {emq}:version"))
	require.Equal(t, "+OK\r\n", admin.do("ACL SETUSER worker ~{emq}:version"))
	require.Equal(t, "+OK\r\n", c.do("EMQ.INSTALL"))
}

// TestACLDeletesItsOwnUser deletes the caller's user in a transaction: what is queued behind is refused.
func TestACLDeletesItsOwnUser(t *testing.T) {
	addr := startServer(t)
	c := dial(t, addr)
	require.Equal(t, "+OK\r\n", dial(t, addr).do("ACL SETUSER bob on nopass +@all ~* &*"))
	c.send("AUTH bob x", "MULTI", "ACL DELUSER bob", "HSET h f v", "EXEC", "PING")
	for _, want := range []string{"+OK\r\n", "+OK\r\n", "+QUEUED\r\n", "+QUEUED\r\n"} {
		require.Equal(t, want, c.next())
	}
	reply := c.next()
	require.Contains(t, reply, "*2\r\n:1\r\n-NOPERM ")
	c.ended()
	require.Equal(t, "$-1\r\n", dial(t, addr).do("HGET h f"))
}
