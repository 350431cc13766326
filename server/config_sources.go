package server

import (
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
)

// envPrefix begins the name of every variable of emqd: EMQD_TCP_KEEPALIVE for tcp-keepalive.
const envPrefix = "EMQD_"

// EnvName returns the variable that gives the setting.
func (s Setting) EnvName() string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(s.Name, "-", "_"))
}

// LoadConfig returns the configuration from its sources, each winning over those before it: the
// defaults, the file (none when empty), the environment (as os.Environ gives it) and the flags.
// An unknown setting, a bad value and values that do not go together are errors that name the file
// and line, the variable or the flag.
func LoadConfig(file string, environ []string, flags []Pair) (*Config, error) {
	c := NewConfig()
	if file != "" {
		if err := c.readFile(file); err != nil {
			return nil, err
		}
	}
	if err := c.readEnv(environ); err != nil {
		return nil, err
	}
	for _, p := range flags {
		s := lookup(p.Name)
		if s == nil || s.File {
			return nil, fmt.Errorf("--%s: unknown setting", p.Name)
		}
		if err := s.parse(c, s.split(p.Value)); err != nil {
			return nil, fmt.Errorf("--%s: %w", p.Name, err)
		}
	}
	if err := c.finish(); err != nil {
		return nil, err
	}
	return c, nil
}

// readEnv takes the EMQD_ variables. Those that Kubernetes and Docker set for a service called
// emqd (EMQD_SERVICE_HOST, EMQD_PORT=tcp://..., EMQD_PORT_6390_TCP ...) are not settings.
func (c *Config) readEnv(environ []string) error {
	names := map[string]*setting{}
	for _, s := range settings() {
		if !s.alias && !s.File {
			names[s.EnvName()] = s
		}
	}
	for _, e := range environ {
		name, value, _ := strings.Cut(e, "=")
		if !strings.HasPrefix(name, envPrefix) || serviceLink(name, value) {
			continue
		}
		s := names[name]
		if s == nil {
			return fmt.Errorf("%s: unknown setting", name)
		}
		if err := s.parse(c, s.split(value)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func serviceLink(name, value string) bool {
	return strings.HasPrefix(name, "EMQD_SERVICE_") || strings.HasPrefix(name, "EMQD_PORT_") ||
		name == "EMQD_PORT" && strings.Contains(value, "://")
}

// Warnings returns what the operator should be told at start, one sentence each.
func (c *Config) Warnings() []string { return c.warnings }

// Guarded says whether clients have to show who they are: a password, a file of users, or a line for
// the default user that does not let everyone in. Lines for other users leave the default one open.
func (c *Config) Guarded() bool {
	for _, u := range c.Users {
		if u[0] == defaultUser {
			return !slices.Contains(u, "nopass")
		}
	}
	return c.RequirePass != "" || c.ACLFile != ""
}

// finish checks what no setting shows alone and makes paths absolute.
func (c *Config) finish() error {
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return fmt.Errorf("dir: %w", err)
	}
	c.Dir = dir
	c.resolveBind()
	if c.Port == 0 && c.TLSPort == 0 && c.UnixSocket == "" {
		return fmt.Errorf("nothing to listen on: port and tls-port are 0 and there is no unixsocket")
	}
	if c.ACLFile != "" && len(c.Users) > 0 {
		return fmt.Errorf("aclfile and user lines are both given: keep the users in one place")
	}
	switch {
	case !c.AppendOnly && len(c.Save) == 0:
		c.warnings = append(c.warnings, "appendonly is no: data is lost when the process ends")
	case !c.AppendOnly:
		c.warnings = append(c.warnings, "appendonly is no: what is newer than the last snapshot is lost when the process ends unexpectedly")
	}
	if err := c.checkTLS(); err != nil {
		return err
	}
	return c.checkProtected()
}

// resolveBind replaces the address auto.
func (c *Config) resolveBind() {
	if !slices.Equal(c.Bind, []string{"auto"}) {
		return
	}
	if c.Guarded() {
		c.Bind = []string{"*", "-::*"}
		return
	}
	c.Bind = []string{"127.0.0.1", "-::1"}
	c.warnings = append(c.warnings, "no password and no ACL are given: listening on loopback only; "+
		"set EMQD_REQUIREPASS (or requirepass, aclfile) to listen on all interfaces")
}

func (c *Config) checkTLS() error {
	for _, p := range c.TLSProtocols {
		if p != "TLSv1.2" && p != "TLSv1.3" {
			return fmt.Errorf("tls-protocols: %q is not TLSv1.2 or TLSv1.3", p)
		}
	}
	if c.TLSPort == 0 {
		return nil
	}
	if c.TLSCertFile == "" || c.TLSKeyFile == "" {
		return fmt.Errorf("tls-port needs tls-cert-file and tls-key-file")
	}
	if c.TLSAuthClients != "no" && c.TLSCACertFile == "" {
		return fmt.Errorf("tls-auth-clients %s needs tls-ca-cert-file; without client certificates set tls-auth-clients no", c.TLSAuthClients)
	}
	return nil
}

// checkProtected refuses to serve strangers without a password.
func (c *Config) checkProtected() error {
	if !c.ProtectedMode || c.Guarded() || c.Port == 0 && c.TLSPort == 0 {
		return nil
	}
	for _, b := range c.Bind {
		if !loopback(b) {
			return fmt.Errorf("protected mode: bind %s reaches beyond this machine, and there is no password and no ACL. "+
				"Set requirepass (EMQD_REQUIREPASS) or aclfile, or bind 127.0.0.1 only, "+
				"or, where the network itself keeps strangers out, set protected-mode no", b)
		}
	}
	return nil
}

// loopback says whether an address of bind is reachable from this machine only.
func loopback(bind string) bool {
	bind = strings.TrimPrefix(bind, "-")
	if strings.EqualFold(bind, "localhost") {
		return true
	}
	a, err := netip.ParseAddr(bind)
	return err == nil && a.Unmap().IsLoopback()
}
