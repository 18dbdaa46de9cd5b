package home

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

const notifySettings = `notify:
  targets:
    hook:
      webhook: {url: "https://hooks.example.org/T0/path-is-secret", secret: 0123456789abcdef-hush}
    mail:
      smtp:
        server: mail.example.org:587
        from: ctl@example.org
        to: [noc@example.org]
        user: ctl
        password: swordfish-hush
    alerts: {alertmanager: {url: "http://127.0.0.1:9093"}}
  rules:
    - {kinds: [link-lost], targets: [hook, mail], after: 5s}
    - {severity: error, targets: [alerts], repeat: 0}
`

// Targets and rules have their defaults, and no view of the settings shows a secret.
func TestNotifySettings(t *testing.T) {
	d := write(t, notifySettings)
	l, ps := Load(d, nil, nil)
	if len(ps) > 0 {
		t.Fatal(ps)
	}
	n := l.Notify
	if m := n.Targets["mail"].SMTP; m == nil || !m.StartTLS || n.Targets["mail"].Webhook != nil {
		t.Errorf("%+v", n.Targets["mail"])
	}
	first, second := n.Rules[0], n.Rules[1]
	if first.After != 5*time.Second || first.Repeat != 4*time.Hour || first.Severity != "warning" || second.After != time.Minute || second.Repeat != 0 {
		t.Errorf("%+v", n.Rules)
	}
	file, err := d.Settings("ctl")
	if err != nil {
		t.Fatal(err)
	}
	shown := fmt.Sprint(l.Effective(), file)
	if strings.Contains(shown, "hush") || strings.Contains(shown, "path-is-secret") || !strings.Contains(shown, "noc@example.org") {
		t.Error(shown)
	}
}

// Each fault names its line and what to do, and never a secret.
func TestFaultsOfNotifySettings(t *testing.T) {
	target := func(text string) string { return "notify:\n  targets:\n    a:\n      " + text + "\n" }
	for name, c := range map[string]struct{ yaml, want string }{
		"plain HTTP": {
			target("webhook: {url: 'http://hooks.example.org/hush', secret: 0123456789abcdef}"),
			"etc/ctl.yaml:4: notify.targets.a.webhook.url: it is not over https; only a webhook on this machine, such as http://127.0.0.1:9000/ctl, may do without",
		},
		"password in the URL": {
			target("webhook: {url: 'https://a:hush@hooks.example.org/', secret: 0123456789abcdef}"),
			"etc/ctl.yaml:4: notify.targets.a.webhook.url: it is not an address such as https://hooks.example.org/ctl",
		},
		"short secret": {
			target("webhook: {url: 'https://hooks.example.org/', secret: hush}"),
			"etc/ctl.yaml:4: notify.targets.a.webhook.secret: it has less than 16 characters; openssl rand -hex 32 makes a good one",
		},
		"no secret": {
			target("webhook: {url: 'https://hooks.example.org/'}"),
			"etc/ctl.yaml:4: notify.targets.a.webhook: secret is missing",
		},
		"secret of another type": {
			target("webhook: {url: 'https://hooks.example.org/', secret: [hush]}"),
			"etc/ctl.yaml:4: notify.targets.a.webhook.secret: does not have the form it must have",
		},
		"two ways": {
			target("{alertmanager: {url: 'http://127.0.0.1:1'}, webhook: {url: 'https://hooks.example.org/', secret: 0123456789abcdef}}"),
			"etc/ctl.yaml:3: notify.targets.a: it has 2 ways to be notified; write exactly one of webhook, smtp and alertmanager",
		},
		"unencrypted mail": {
			target("smtp: {server: 'mail.example.org:25', from: a@example.org, to: [b@example.org], starttls: false}"),
			"etc/ctl.yaml:4: notify.targets.a.smtp.starttls: mail would go to mail.example.org unencrypted; only a server on this machine may do without TLS",
		},
		"no address": {
			target("smtp: {server: '127.0.0.1:25', from: a@example.org, to: [\"b@example.org\\nBcc: c@example.org\"]}"),
			"etc/ctl.yaml:4: notify.targets.a.smtp: \"b@example.org\\nBcc: c@example.org\" is not an address of mail such as noc@example.org",
		},
		"unknown way": {
			target("webhok: {}"),
			`etc/ctl.yaml:4: notify.targets.a.webhok: no such setting (did you mean "webhook"?)`,
		},
		"name": {
			"notify:\n  targets:\n    A.b:\n      alertmanager: {url: 'http://127.0.0.1:1'}\n",
			`etc/ctl.yaml:2: notify.targets: "A.b" is not a name of a target: write small letters, digits and -`,
		},
		"unknown target": {
			target("alertmanager: {url: 'http://127.0.0.1:1'}") + "  rules:\n    - {targets: [b]}\n",
			`etc/ctl.yaml:6: notify.rules.0.targets: "b" is not one of notify.targets (did you mean "a"?)`,
		},
		"severity": {
			target("alertmanager: {url: 'http://127.0.0.1:1'}") + "  rules:\n    - {targets: [a], severity: high}\n",
			`etc/ctl.yaml:6: notify.rules.0.severity: "high" is not one of error, warning`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := write(t, c.yaml)
			_, ps := Load(d, nil, nil)
			if len(ps) != 1 {
				t.Fatalf("%d problems: %v", len(ps), ps)
			}
			got := strings.TrimPrefix(ps[0].String(), string(d)+"/")
			if got != c.want || strings.Contains(got, "hush") {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}
