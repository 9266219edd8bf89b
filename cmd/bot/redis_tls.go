package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/redis/go-redis/v9"

	"countersign/config"
)

// secure lays the configured certificates over the options of a connection.
func secure(o *redis.Options, r config.Redis) error {
	if o.TLSConfig == nil {
		if r.TLSCAFile != "" || r.TLSCertFile != "" { // the address came from a file, unseen by validation
			return errors.New("redis.tls_ca_file, redis.tls_cert_file: without TLS they would not be used; want rediss:// in redis.url")
		}
		return nil
	}
	o.TLSConfig.MinVersion = tls.VersionTLS12
	if r.TLSCAFile != "" {
		text, err := os.ReadFile(r.TLSCAFile)
		if err != nil {
			return fmt.Errorf("redis.tls_ca_file: %w", err)
		}
		o.TLSConfig.RootCAs = x509.NewCertPool()
		if !o.TLSConfig.RootCAs.AppendCertsFromPEM(text) {
			return fmt.Errorf("redis.tls_ca_file: %s holds no certificate; want PEM", r.TLSCAFile)
		}
	}
	if r.TLSCertFile == "" {
		return nil
	}
	own := func() (*tls.Certificate, error) {
		pair, err := tls.LoadX509KeyPair(r.TLSCertFile, r.TLSKeyFile)
		if err != nil {
			return nil, fmt.Errorf("redis.tls_cert_file, redis.tls_key_file: %w", err)
		}
		return &pair, nil
	}
	// Read again for every connection, so that a renewed one needs no new start.
	o.TLSConfig.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return own() }
	_, err := own()
	return err
}

// tlsRemedy says what helps against an error of TLS on the way to Redis, "" against any
// other.
func tlsRemedy(err error) string {
	var (
		unknown x509.UnknownAuthorityError
		name    x509.HostnameError
		invalid x509.CertificateInvalidError
		op      *net.OpError
	)
	switch {
	case errors.As(err, &unknown):
		return "nobody whom the bot believes vouches for this Redis: name its CA in redis.tls_ca_file"
	case errors.As(err, &name):
		return "the certificate of Redis is for another name: use one of its names in redis.url"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "the certificate of Redis has expired or is not valid yet: renew it, and check the clocks"
	case errors.As(err, &op) && op.Op == "remote error":
		return "Redis does not take the bot's certificate: give it a valid one that the CA of Redis has signed, in redis.tls_cert_file and redis.tls_key_file"
	}
	return ""
}

// behind puts a text behind another, if there is one.
func behind(join, text string) string {
	if text == "" {
		return ""
	}
	return join + text
}
