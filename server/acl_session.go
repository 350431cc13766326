package server

import "github.com/echomq/emqd/commands"

// gateACL refuses what the session's user may not do, and logs it.
func gateACL(srv *Server, s *session, row *commands.Row, args [][]byte) error {
	if d := s.user.check(row, args, &srv.scratch); d.reason != aclAllowed {
		srv.logDenial(s, row, args, d, s.tx != nil)
		return d.refusal(s.user, row)
	}
	return nil
}

// readmit checks what may have changed between queueing and EXEC.
func (srv *Server) readmit(s *session, row *commands.Row, args [][]byte) error {
	if d := s.user.check(row, args, &srv.scratch); d.reason != aclAllowed {
		srv.logDenial(s, row, args, d, true)
		return d.execRefusal()
	}
	return gateLog(srv, s, row, args)
}

func (srv *Server) logDenial(s *session, row *commands.Row, args [][]byte, d aclDenial, inMulti bool) {
	srv.acl.log.add(aclRefused{
		reason: d.reason, inMulti: inMulti, object: d.object(row, args), username: s.user.name, client: s.describe(),
	}, srv.now, srv.cfg.ACLLogMaxLen)
}

// Allows is commands.Host's. What it denies is logged like a declared key.
func (s *session) Allows(key []byte, access commands.KeyFlags) bool {
	if s.user.allowsKey(key, aclAccessOf(access)) {
		return true
	}
	s.srv.acl.log.add(aclRefused{
		reason: aclDeniedKey, inMulti: s.inExec, object: string(key), username: s.user.name, client: s.describe(),
	}, s.srv.now, s.srv.cfg.ACLLogMaxLen)
	return false
}

// needsAuth reports whether the session has to authenticate before it may do anything else.
func (s *session) needsAuth() bool { return !s.authed && !s.srv.acl.open() }

// logOut makes the session what it was when it connected: the default user's, authenticated if that one
// needs no password.
func (s *session) logOut() {
	s.user, s.authed = s.srv.acl.users[defaultUser], s.srv.acl.open()
}

// logIn makes the session a user's, or logs the failure under the name of the command that tried.
func (s *session) logIn(command, name, password []byte) error {
	u := s.srv.acl.authenticate(name, password)
	if u == nil {
		s.srv.acl.log.add(aclRefused{
			reason: aclDeniedAuth, inMulti: s.tx != nil, object: string(command), username: string(name), client: s.describe(),
		}, s.srv.now, s.srv.cfg.ACLLogMaxLen)
		return errWrongPass
	}
	s.user, s.authed = u, true
	return nil
}

// applyACL closes the sessions that changes to the users have left without a user or without a channel that they
// subscribe to. The one whose command it was gets its reply first.
func (srv *Server) applyACL(changes ...aclChange) {
	for i := range changes {
		change := &changes[i]
		if !change.deleted && !change.narrowed {
			continue
		}
		for _, s := range srv.sessions {
			if s.user != change.user || !change.deleted && !s.losesChannel(change) {
				continue
			}
			if change.deleted {
				s.authed = false // and its user, whom it keeps, may do nothing
			}
			if srv.running == s {
				s.finish()
			} else {
				s.end()
			}
		}
	}
}

// losesChannel reports whether the session subscribes to something that change takes away.
func (s *session) losesChannel(change *aclChange) bool {
	for space, names := range s.subs {
		for name := range names {
			if space == byPattern && change.dropsPattern(name) || space != byPattern && change.dropsChannel([]byte(name)) {
				return true
			}
		}
	}
	return false
}
