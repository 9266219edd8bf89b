package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"countersign/config"
	"countersign/store/storetest"
)

// An authority signs certificates in a folder of its own.
type authority struct {
	t    *testing.T
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t, dir: t.TempDir()}
	a.cert, a.key = a.issue("ca", &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	return a
}

// issue writes NAME.crt and NAME.key, valid for an hour unless the template says else.
func (a *authority) issue(name string, c *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	t := a.t
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c.SerialNumber, c.Subject = big.NewInt(1), pkix.Name{CommonName: name}
	if c.NotAfter.IsZero() {
		c.NotAfter = time.Now().Add(time.Hour)
	}
	c.NotBefore = c.NotAfter.Add(-2 * time.Hour)
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = c, key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, key.Public(), signer)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{".crt": {Type: "CERTIFICATE", Bytes: der}, ".key": {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(a.path(name+file), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	made, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return made, key
}

func (a *authority) path(file string) string { return filepath.Join(a.dir, file) }

// server starts a Redis that speaks TLS alone, and asks for certificates of this
// authority. The address is "" where there is no redis-server.
func (a *authority) server(name string) string {
	_, port, err := net.SplitHostPort(freeAddress(a.t))
	if err != nil {
		a.t.Fatal(err)
	}
	if storetest.Own(a.t, "--port", "0", "--tls-port", port, "--tls-auth-clients", "yes",
		"--tls-cert-file", a.path(name+".crt"), "--tls-key-file", a.path(name+".key"), "--tls-ca-cert-file", a.path("ca.crt")) == nil {
		return ""
	}
	return net.JoinHostPort("127.0.0.1", port)
}

// TestRedisOverTLS speaks to a Redis that wants TLS and a client certificate, and has
// each fault of the certificates refused, with what helps.
func TestRedisOverTLS(t *testing.T) {
	t.Parallel()
	good, other := newAuthority(t), newAuthority(t)
	local := func() *x509.Certificate { return &x509.Certificate{IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}} }
	past := func(c *x509.Certificate) *x509.Certificate { c.NotAfter = time.Now().Add(-time.Hour); return c }
	good.issue("server", local())
	good.issue("old-server", past(local()))
	good.issue("elsewhere", &x509.Certificate{DNSNames: []string{"redis.example.org"}})
	good.issue("bot", &x509.Certificate{})
	good.issue("old-bot", past(&x509.Certificate{}))
	other.issue("bot", &x509.Certificate{})
	address := good.server("server")
	if address == "" {
		return // no redis-server
	}
	for _, c := range []struct {
		name, scheme, address string
		ca, cert              string
		key                   string // "": that of cert
		want                  string // in the error; "": it works
	}{
		{"all is well", "rediss", address, good.path("ca.crt"), good.path("bot"), "", ""},
		{"no CA", "rediss", address, "", good.path("bot"), "", "name its CA in redis.tls_ca_file"},
		{"another CA", "rediss", address, other.path("ca.crt"), good.path("bot"), "", "name its CA in redis.tls_ca_file"},
		{"no client certificate", "rediss", address, good.path("ca.crt"), "", "", "redis.tls_cert_file and redis.tls_key_file"},
		{"a client certificate of another CA", "rediss", address, good.path("ca.crt"), other.path("bot"), "", "redis.tls_cert_file and redis.tls_key_file"},
		{"an expired client certificate", "rediss", address, good.path("ca.crt"), good.path("old-bot"), "", "redis.tls_cert_file and redis.tls_key_file"},
		{"an expired server", "rediss", good.server("old-server"), good.path("ca.crt"), good.path("bot"), "", "renew it"},
		{"a server of another name", "rediss", good.server("elsewhere"), good.path("ca.crt"), good.path("bot"), "", "one of its names in redis.url"},
		{"no such CA file", "rediss", address, good.path("none"), good.path("bot"), "", "redis.tls_ca_file: open"},
		{"a CA file without certificate", "rediss", address, good.path("ca.key"), good.path("bot"), "", "holds no certificate"},
		{"a key of another certificate", "rediss", address, good.path("ca.crt"), good.path("bot"), other.path("bot.key"), "redis.tls_cert_file, redis.tls_key_file: tls: private key does not match"},
		{"certificates without TLS", "redis", address, good.path("ca.crt"), "", "", "want rediss://"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := config.Default().Redis
			r.URL, r.TLSCAFile = config.NewRedisURL(c.scheme+"://"+c.address+"/0"), c.ca
			if c.cert != "" {
				r.TLSCertFile, r.TLSKeyFile = c.cert+".crt", c.cert+".key"
			}
			if c.key != "" {
				r.TLSKeyFile = c.key
			}
			said := speakTo(t, r)
			if c.want == "" && said != "" || !strings.Contains(said, c.want) {
				t.Errorf("came to %q, want %q", said, c.want)
			}
		})
	}
}

// speakTo pings Redis as a command of the program would, and says what came of it.
func speakTo(t *testing.T, r config.Redis) string {
	t.Helper()
	cfg := config.Default()
	cfg.Redis = r
	rdb, err := dial(cfg, 0, once)
	if err != nil {
		return err.Error()
	}
	defer rdb.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := rdb.Ping(ctx).Err(); err != nil {
		return err.Error() + behind("; ", tlsRemedy(err))
	}
	return ""
}
