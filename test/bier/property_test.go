package bier

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"ctl.internal/plugins/bier-service/reconcile"
	"ctl.internal/sdk/bierdriver"
)

// After any sequence of calls and any pattern of routers that die, are replaced,
// refuse or are changed by others: once they are back, each holds exactly what
// topologies and channels say, and nothing else.
func TestRoutersEndWithExactlyWhatIsDesired(t *testing.T) {
	for seed := range int64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			l := newLab(t)
			l.network()
			r := rand.New(rand.NewSource(seed))
			for i := 1; i <= 7; i++ {
				l.must("bier-service-api:mount-router", fmt.Sprintf(`{"input":{"node-id":"%d","host":"192.0.2.%d"}}`, i, i))
			}
			l.must("bier-topology-api:configure-domain", `{"input":{"topology-id":"flow:1","domain":[1,2]}}`)
			l.must("bier-topology-api:configure-subdomain", `{"input":{"topology-id":"flow:1","domain-id":1,"sub-domain":[1,2]}}`)
			for range 120 {
				l.step(r)
			}
			for i := 1; i <= 7; i++ {
				l.routers.Refuse(fmt.Sprint(i), "")
				l.routers.Up(fmt.Sprint(i), true)
			}
			l.until("every router holds exactly what is desired", func() bool { return l.wrong() == "" }, l.wrong)
			l.until("every router is known to hold it", func() bool {
				return !strings.Contains(l.must("bier-service-api:reconcile", `{"input":{}}`), `"pending"`)
			})
		})
	}
}

// step is one thing that may happen.
func (l *lab) step(r *rand.Rand) {
	n := 1 + r.Intn(7)
	id := fmt.Sprint(n)
	switch r.Intn(12) {
	case 0:
		l.routers.Up(id, false)
	case 1, 2:
		l.routers.Up(id, true)
	case 3:
		l.routers.Wipe(id)
	case 4:
		l.routers.Refuse(id, []string{"", "the disk is full"}[r.Intn(2)])
	case 5:
		l.routers.Touch(id, "somebody", func(c *bierdriver.Config) { c.Global = nil })
	case 6, 7, 8:
		l.must("bier-topology-api:configure-node", node(n, 1, 1+r.Intn(2), n+10*r.Intn(2), 100+100*r.Intn(3), 1000, "ISIS"))
	case 9:
		l.must("bier-topology-api:delete-node", fmt.Sprintf(`{"input":{"topology-id":"flow:1","domain-id":1,"sub-domain-id":%d,"node-id":"%s"}}`, 1+r.Intn(2), id))
	case 10:
		l.must("bier-channel-api:add-channel", fmt.Sprintf(`{"input":{"name":"c%d","src-ip":"1.1.1.%d","dst-group":"224.1.1.1","domain-id":1,"sub-domain-id":%d,"source-wildcard":32,"group-wildcard":32}}`,
			r.Intn(4), 1+r.Intn(2), 1+r.Intn(2)))
		l.must("bier-channel-api:deploy-channel", fmt.Sprintf(`{"input":{"channel-name":"c%d","ingress-node":"%s","egress-node":[{"node-id":"%d"}]}}`, r.Intn(4), id, 1+r.Intn(7)))
	case 11:
		l.must("bier-channel-api:remove-channel", fmt.Sprintf(`{"input":{"channel-name":"c%d"}}`, r.Intn(4)))
	}
}

// wrong says what is different from what the plugins' data say, "" if nothing.
func (l *lab) wrong() string {
	now, err := l.state.Fresh(l.ctx())
	if err != nil {
		return err.Error()
	}
	desired, _ := new(reconcile.Planner).Wanted(l.trees.Network(now))
	for _, id := range l.routers.IDs() {
		want := &bierdriver.Config{}
		if desired[id] != nil {
			want = desired[id].Made().Config
		}
		if d := configDiff(l.routers.Config(id), want); len(d) > 0 {
			return fmt.Sprint(id, d)
		}
	}
	return ""
}
