package server

// Version is the version of emqd.
const Version = "0.1.0"
