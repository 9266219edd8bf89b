package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
)

// listenLocally opens the address of the demo's page. Whoever reaches the page can press
// every button as everybody, so only this machine's own addresses will do; a tunnel shows
// the page elsewhere without opening it to all.
func listenLocally(ctx context.Context, address string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("--listen %s: want host:port, e.g. 127.0.0.1:8080", address)
	}
	if !isLocal(host) {
		return nil, fmt.Errorf("--listen %s: other machines could reach that address, and whoever reaches the demo can press every button in it; "+
			"use 127.0.0.1:%s, and to see it from another machine: ssh -L %[2]s:127.0.0.1:%[2]s THIS-MACHINE", address, port)
	}
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("--listen %s: another program has that port; name another one, or 127.0.0.1:0 for any that is free", address)
	case err != nil:
		return nil, fmt.Errorf("--listen %s: %w", address, err)
	}
	return l, nil
}

// isLocal reports whether a host names this machine to itself alone. An empty host is
// every address there is.
func isLocal(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}
