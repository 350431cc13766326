// Package parity holds the tests that compare emqd with a real server: the script corpus, the rows of the
// command table, and random commands.
package parity
