package storetest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// realCluster starts the one cluster of this test process, three nodes with a third of
// the slots each, when it is first asked for. It is nil where redis-server is not on the
// PATH.
var realCluster = sync.OnceValues(func() ([]*process, error) {
	nodes := make([]*process, 3)
	for i := range nodes {
		bus, err := freePort()
		if err != nil {
			return nil, err
		}
		nodes[i], err = startOne("--cluster-enabled", "yes", "--cluster-port", fmt.Sprint(bus), "--cluster-node-timeout", "5000")
		if nodes[i] == nil || err != nil {
			return nil, err
		}
		nodes[i].bus = bus
	}
	return nodes, join(nodes)
})

// slots is how many slots a cluster has.
const slots = 16384

// join makes a cluster of nodes, and waits until each takes it for whole.
func join(nodes []*process) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for i, n := range nodes {
		c := n.connect()
		defer func() { _ = c.Close() }()
		first, last := i*slots/len(nodes), (i+1)*slots/len(nodes)-1
		host, port, err := net.SplitHostPort(nodes[0].addr)
		err = errors.Join(err,
			c.Do(ctx, "cluster", "set-config-epoch", i+1).Err(),
			c.Do(ctx, "cluster", "addslotsrange", first, last).Err(),
			c.Do(ctx, "cluster", "meet", host, port, nodes[0].bus).Err())
		if err != nil {
			return fmt.Errorf("node %d: %w", i, err)
		}
	}
	for _, n := range nodes {
		c := n.connect()
		defer func() { _ = c.Close() }()
		for {
			info, err := c.ClusterInfo(ctx).Result()
			if err == nil && strings.Contains(info, "cluster_state:ok") &&
				strings.Contains(info, fmt.Sprintf("cluster_known_nodes:%d\r", len(nodes))) &&
				strings.Contains(info, fmt.Sprintf("cluster_slots_ok:%d\r", slots)) {
				break
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("no cluster came of the nodes (%w): %s", err, info)
			case <-time.After(20 * time.Millisecond):
			}
		}
	}
	return nil
}

func (p *process) connect() *redis.Client {
	return redis.NewClient(&redis.Options{
		Addr:                     p.addr,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
}

// Cluster lends the process's cluster, nil where there is none and none is required.
// [Server.Client] there speaks to the node that has the namespace, [Server.Bot] to the
// cluster, beginning at a node that has it not.
func Cluster(t testing.TB) *Server {
	t.Helper()
	nodes, err := realCluster()
	if err != nil {
		t.Fatalf("cluster: %v", err)
	}
	if nodes == nil {
		return nil
	}
	s := newServer(t, &Server{name: "cluster", nodes: nodes})
	slot, err := s.client.ClusterKeySlot(t.Context(), s.Keys().Prefix()).Result()
	if err != nil {
		t.Fatalf("cluster: %v", err)
	}
	for i, n := range nodes {
		if int(slot) < (i+1)*slots/len(nodes) {
			s.addr, s.client = n.addr, n.connect()
			s.nodes = append(append([]*process(nil), nodes[i+1:]...), nodes[:i+1]...)
			break
		}
	}
	t.Cleanup(func() { _ = s.client.Close() })
	t.Cleanup(func() { s.clear(context.WithoutCancel(t.Context())) })
	s.asBot(t)
	return s
}
