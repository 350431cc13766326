package server

import (
	"reflect"

	"github.com/echomq/emqd/commands"
	"github.com/echomq/emqd/store"
)

var configRows = []commands.Row{{
	Name: "config", Family: "server", Arity: -2,
	Summary: "The commands about the node's settings.", Complexity: "That of the subcommand", Since: "2.0.0",
	Subs: []commands.Row{
		{
			Name: "get", Arity: -3, Do: cmdConfigGet, Flags: configFlags, Syntax: "parameter [parameter ...]",
			Summary:    "Returns the settings whose names match the patterns, with their values.",
			Complexity: "O(N), N being the settings named", Since: "2.0.0",
		},
		{
			Name: "set", Tips: []string{"request_policy:all_nodes", "response_policy:all_succeeded"}, Arity: -4, Do: cmdConfigSet, Flags: configFlags, Syntax: "parameter value [parameter value ...]",
			SecretAt:   secretSetting,
			Summary:    "Changes settings while the server runs, all or none of them.",
			Complexity: "O(N), N being the settings named", Since: "2.0.0",
		},
		{
			Name: "resetstat", Tips: []string{"request_policy:all_nodes", "response_policy:all_succeeded"}, Arity: 2, Do: cmdConfigResetStat, Flags: configFlags,
			Summary: "Resets the statistics that INFO reports.", Complexity: "O(1)", Since: "2.0.0",
		},
		{
			Name: "rewrite", Tips: []string{"request_policy:all_nodes", "response_policy:all_succeeded"}, Arity: 2, Do: cmdConfigRewrite, Flags: configFlags,
			Summary: "Writes the settings as they are now into the configuration file.", Complexity: "O(1)", Since: "2.8.0",
		},
		commands.HelpRow("5.0.0"),
	},
}}

const configFlags = commands.Admin | commands.NoScript | commands.Loading | commands.Stale

// cmdConfigGet handles CONFIG GET pattern [pattern ...].
//
// Reply:   map of setting and value
// Effects: none
func cmdConfigGet(c *commands.Call) error {
	patterns := make([]string, 0, len(c.Args)-2)
	for _, a := range c.Args[2:] {
		patterns = append(patterns, string(a))
	}
	found := c.Peer.(*session).srv.cfg.Get(patterns...)
	c.Reply.Map(len(found))
	for _, p := range found {
		c.Reply.Text(p.Name)
		c.Reply.Text(p.Value)
	}
	return nil
}

// cmdConfigSet handles CONFIG SET name value [name value ...].
//
// Reply:   OK
// Errors:  an unknown, immutable, protected or repeated setting, a value that is refused
// Effects: none
func cmdConfigSet(c *commands.Call) error {
	words := c.Args[2:]
	if len(words)%2 != 0 {
		return commands.ErrSyntax
	}
	pairs := make([]Pair, 0, len(words)/2)
	for i := 0; i < len(words); i += 2 {
		pairs = append(pairs, Pair{Name: string(words[i]), Value: string(words[i+1])})
	}
	srv := c.Peer.(*session).srv
	if err := srv.cfg.Set(pairs...); err != nil {
		return err
	}
	c.Reply.OK()
	return nil
}

// secretSetting tells the value of a setting that is a secret.
func secretSetting(args [][]byte, i int) bool {
	if i < 3 || i%2 == 0 {
		return false
	}
	s := lookup(string(args[i-1]))
	return s != nil && s.secret
}

// cmdConfigResetStat handles CONFIG RESETSTAT.
//
// Reply:   OK
// Effects: none
func cmdConfigResetStat(c *commands.Call) error {
	srv := c.Peer.(*session).srv
	srv.stats.reset()
	srv.store.Stats = store.Stats{}
	c.Reply.OK()
	return nil
}

// cmdConfigRewrite handles CONFIG REWRITE.
//
// Reply:   OK
// Errors:  there is no file, or it cannot be written
// Effects: none
func cmdConfigRewrite(c *commands.Call) error {
	srv := c.Peer.(*session).srv
	if srv.cfg.ACLFile == "" {
		srv.cfg.Users = srv.acl.lines()
	}
	if err := srv.cfg.Rewrite(); err != nil {
		srv.log.Warn("CONFIG REWRITE failed", "error", err)
		return err
	}
	srv.log.Info("wrote the configuration file", "file", srv.cfg.File())
	c.Reply.OK()
	return nil
}

// followLimits gives the store its limits and keeps them at what CONFIG SET says.
func (srv *Server) followLimits() {
	for _, s := range settings() {
		if s.limit == "" || s.alias {
			continue
		}
		apply := func(c *Config) error {
			reflect.ValueOf(&srv.store.Limits).Elem().FieldByName(s.limit).SetInt(s.value(c).Int())
			return nil
		}
		_ = apply(srv.cfg)
		srv.cfg.OnSet(s.Name, apply)
	}
}
