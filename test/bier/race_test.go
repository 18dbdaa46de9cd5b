package bier

import (
	"fmt"
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

// agree: a channel is deployed and its nodes are there, or one of both was refused.
func (l *lab) agree(deployed, deleted string) {
	l.t.Helper()
	shown, node := l.must("bier-channel-api:query-channel", queryTV), l.must("bier-topology-api:query-node", `{"input":{"topology-id":"flow:1","node":["2"]}}`)
	isDeployed, isThere := strings.Contains(shown, "ingress-node"), strings.Contains(node, "bier-global")
	if isDeployed && !isThere || strings.Contains(deployed, "SUCCESS") != isDeployed || strings.Contains(deleted, "SUCCESS") == isThere {
		l.t.Errorf("the deployment answered %s, the deletion %s\n%s\n%s", deployed, deleted, shown, node)
	}
}

// A node is deleted while a channel is deployed that needs it: one of both is refused.
func TestNodeIsDeletedDuringADeployment(t *testing.T) {
	l := configured(t, 2)
	l.must("bier-channel-api:add-channel", addTV)
	won := map[bool]int{}
	for range 40 {
		var deployed, deleted string
		var both sync.WaitGroup
		both.Go(func() { deployed = l.answer("bier-channel-api:deploy-channel", deployTV) })
		both.Go(func() { deleted = l.answer("bier-topology-api:delete-node", deleteN2) })
		both.Wait()
		l.agree(deployed, deleted)
		won[strings.Contains(deployed, "SUCCESS")]++
		l.must("bier-channel-api:remove-channel", `{"input":{"channel-name":"tv"}}`)
		l.must("bier-channel-api:add-channel", addTV)
		l.must("bier-topology-api:configure-node", node(2, 1, 1, 2, 100, 200, "ISIS"))
	}
	t.Logf("the deployment was first %d times, the deletion %d times", won[true], won[false])
}

func (l *lab) answer(rpc, body string) string {
	out, err := l.post(rpc, body)
	if err != nil {
		return err.Error()
	}
	return out
}

// Channels of one flow are deployed at the same time: one of them is.
func TestOneOfSeveralDeploymentsOfAFlow(t *testing.T) {
	l := configured(t, 2)
	var all sync.WaitGroup
	answers := make([]string, 8)
	for i := range answers {
		if out := l.must("bier-channel-api:add-channel", strings.Replace(addTV, `"tv"`, fmt.Sprintf(`"tv%d"`, i), 1)); !strings.HasPrefix(out, channelSuccess) {
			t.Fatal(out)
		}
	}
	for i := range answers {
		all.Go(func() {
			answers[i] = l.answer("bier-channel-api:deploy-channel", strings.Replace(deployTV, `"tv"`, fmt.Sprintf(`"tv%d"`, i), 1))
		})
	}
	all.Wait()
	if n := strings.Count(strings.Join(answers, "\n"), "SUCCESS"); n != 1 {
		t.Errorf("%d of one flow are deployed:\n%s", n, strings.Join(answers, "\n"))
	}
}
