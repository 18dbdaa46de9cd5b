package bier

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
)

const (
	addTV    = `{"input":{"name":"tv","src-ip":"1.1.1.1","dst-group":"224.1.1.1","domain-id":1,"sub-domain-id":1,"source-wildcard":32,"group-wildcard":32}}`
	deployTV = `{"input":{"channel-name":"tv","ingress-node":"1","egress-node":[{"node-id":"2"}]}}`
	queryTV  = `{"input":{"channel-name":"tv"}}`
	deleteN2 = `{"input":{"topology-id":"flow:1","domain-id":1,"sub-domain-id":1,"node-id":"2"}}`
)

// behind has f run once, when the RPC of a plugin was executed for somebody who asked
// with such an input, and before the answer is given.
func (l *lab) behind(module, rpc, input string, f func()) {
	l.t.Helper()
	l.must("bier-service-api:reconcile", `{"input":{}}`) // which has read everything once then
	var once sync.Once
	p, full := l.plugins[module], module+":"+rpc
	l.host.Handle(full, func(ctx context.Context, in []byte) ([]byte, error) {
		var out json.RawMessage
		err := p.Call(ctx, full, json.RawMessage(in), &out)
		if strings.Contains(string(in), input) {
			once.Do(f)
		}
		return out, err
	})
}

// agree: a channel is deployed and its nodes are there, or one of both was refused.
func (l *lab) agree(deployed, deleted string) {
	l.t.Helper()
	shown, node := l.must("bier-channel-api:query-channel", queryTV), l.must("bier-topology-api:query-node", `{"input":{"topology-id":"flow:1","node":["2"]}}`)
	isDeployed, isThere := strings.Contains(shown, "ingress-node"), strings.Contains(node, "bier-global")
	if isDeployed && !isThere || strings.Contains(deployed, "SUCCESS") != isDeployed || strings.Contains(deleted, "SUCCESS") == isThere {
		l.t.Errorf("the deployment answered %s, the deletion %s\n%s\n%s", deployed, deleted, shown, node)
	}
}

// A node is deleted while a deployment that needs it is decided.
func TestNodeIsDeletedDuringADeployment(t *testing.T) {
	l := configured(t, 2)
	l.must("bier-channel-api:add-channel", addTV)
	deleted := ""
	l.behind("bier-topology-view", "read", `"flow:1"`, func() { deleted = l.must("bier-topology-api:delete-node", deleteN2) })
	deployed := l.must("bier-channel-api:deploy-channel", deployTV)
	if deleted == "" {
		t.Fatal("nothing was deleted meanwhile")
	}
	l.agree(deployed, deleted)
}

// A channel is deployed while the deletion of a node that it needs is decided.
func TestDeploymentDuringADeletion(t *testing.T) {
	l := configured(t, 2)
	l.must("bier-channel-api:add-channel", addTV)
	deployed := make(chan string, 1)
	l.behind("bier-channel-view", "read", `"changes":false`, func() {
		go func() {
			out, err := l.post("bier-channel-api:deploy-channel", deployTV)
			if err != nil {
				out = err.Error()
			}
			deployed <- out
		}()
		l.until("the deployment is stored", func() bool {
			var v json.RawMessage
			err := l.plugins["bier-channel"].Call(l.ctx(), "bier-channel-view:read", struct{}{}, &v)
			return err == nil && strings.Contains(string(v), "ingress-node")
		})
	})
	deleted := l.must("bier-topology-api:delete-node", deleteN2)
	l.agree(<-deployed, deleted)
}
