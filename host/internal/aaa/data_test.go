package aaa_test

import (
	"encoding/json"
	"testing"

	"ctl.internal/host/internal/aaa"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/fault"
)

// TestPoliciesAsData does what RESTCONF does: check, commit, apply.
func TestPoliciesAsData(t *testing.T) {
	l := open(t, defaultINI)
	change := func(node, content string) error {
		if err := l.Check(ctx, node, json.RawMessage(content)); err != nil {
			return err
		}
		return l.Apply(ctx, node, json.RawMessage(content))
	}
	const locked = `{"policies":{"policies":[{"resource":"/**","permissions":[{"role":"dog","actions":["get","put"]}]}]}}`
	if err := change(aaa.PolicyNode, locked); fault.KindOf(err) != fault.InUse {
		t.Errorf("locking out is answered %v", err)
	}
	l.want(200, "GET", modules, "user:user", "")
	must(t, change(aaa.PolicyNode, `{"policies":{"policies":[{"resource":"/restconf/modules/**","permissions":[{"role":"admin","actions":["get"]}]}]}}`))
	l.want(401, "GET", modules, "user:user", "")
	l.want(200, "GET", modules, adm, "")
	must(t, change(aaa.PolicyNode, ""))
	l.want(200, "GET", modules, "user:user", "")

	must(t, change(aaa.BrokerNode, `{"policies":[{"service":"RestConfService","resource":"*","role":"admin"}]}`))
	l.want(401, "GET", "/restconf/config/x", "user:user", "")
	l.want(401, "GET", "/rests/data/x", "user:user", "")
	l.want(200, "GET", "/rests/data/x", adm, "")
	l.want(200, "GET", modules, "user:user", "")
	must(t, change(aaa.BrokerNode, ""))
	l.want(200, "GET", "/rests/data/x", "user:user", "")
	if err := l.Check(ctx, "other:node", nil); err != nil {
		t.Error(err)
	}
}

// A policy for one tree decides at the others too: it must not lock out either.
func TestPoliciesOfOneTreeCannotLockOut(t *testing.T) {
	content := json.RawMessage(`{"policies":{"policies":[{"resource":"/restconf/**","permissions":[{"role":"dog","actions":["get","put"]}]}]}}`)
	if err := open(t, "[urls]\n/** = authcBasic, dynamicAuthorization\n").Check(ctx, aaa.PolicyNode, content); fault.KindOf(err) != fault.InUse {
		t.Errorf("no user could change policies any more, answered %v", err)
	}
	must(t, open(t, "[urls]\n/rests/** = authcBasic\n/restconf/** = authcBasic\n/** = authcBasic, dynamicAuthorization\n").Check(ctx, aaa.PolicyNode, content))
}

func TestUnreadablePoliciesDeny(t *testing.T) {
	l := open(t, defaultINI)
	if err := l.Apply(ctx, aaa.PolicyNode, json.RawMessage(`{"policies":`)); err == nil {
		t.Error("half a document was applied")
	}
	l.want(401, "GET", modules, adm, "")
	must(t, l.Apply(ctx, aaa.PolicyNode, nil))
	l.Unreadable(aaa.BrokerNode)
	l.want(401, "GET", "/rests/data/x", adm, "")
	l.want(200, "GET", modules, adm, "")
}

func TestPolicyChangesAreAudited(t *testing.T) {
	l := open(t, defaultINI)
	var seen []string
	l.Accounting().Listen(always, listen(&seen))
	must(t, l.Apply(caller.With(ctx, caller.Caller{User: "admin", Domain: "sdn"}), aaa.PolicyNode, nil))
	must(t, l.Apply(ctx, aaa.PolicyNode, nil)) // the controller's own, at start
	if len(seen) != 1 || seen[0] != "change change policies aaa:http-authorization by admin@sdn" {
		t.Errorf("heard %q", seen)
	}
}
