package store_test

import (
	"testing"

	"countersign/store/storetest"
)

// TestContractInCluster proves every rule on a cluster of three nodes, through a client
// that begins at a node which does not have the namespace.
func TestContractInCluster(t *testing.T) {
	t.Parallel()
	if storetest.Cluster(t) == nil {
		return // no redis-server
	}
	for _, c := range checks() {
		t.Run(c.script+"/"+c.rule, func(t *testing.T) {
			t.Parallel()
			s := storetest.Cluster(t)
			c.prove(newEnv(t, s, storetest.NewStore(t, s)))
		})
	}
}
