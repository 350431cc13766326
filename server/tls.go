package server

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"os"
	"slices"
)

// TLS returns the TLS configuration of the tls-* settings. Errors name the file that cannot be used.
func (c *Config) TLS() (*tls.Config, error) {
	cert, err := tls.LoadX509KeyPair(c.TLSCertFile, c.TLSKeyFile)
	if err != nil {
		return nil, err
	}
	conf := &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	if len(c.TLSProtocols) > 0 {
		if !slices.Contains(c.TLSProtocols, "TLSv1.2") {
			conf.MinVersion = tls.VersionTLS13
		}
		if !slices.Contains(c.TLSProtocols, "TLSv1.3") {
			conf.MaxVersion = tls.VersionTLS12
		}
	}
	switch c.TLSAuthClients {
	case "no":
		return conf, nil
	case "optional":
		conf.ClientAuth = tls.VerifyClientCertIfGiven
	default:
		conf.ClientAuth = tls.RequireAndVerifyClientCert
	}
	pem, err := os.ReadFile(c.TLSCACertFile)
	if err != nil {
		return nil, err
	}
	conf.ClientCAs = x509.NewCertPool()
	if !conf.ClientCAs.AppendCertsFromPEM(pem) {
		return nil, errors.New("no certificate in " + c.TLSCACertFile)
	}
	return conf, nil
}
