package home

import (
	"fmt"
	"maps"
	"net"
	"net/mail"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"ctl.internal/internal/nearest"
	"ctl.internal/sdk/host"
)

// Notify says who is notified of the troubles.
type Notify struct {
	Targets map[string]NotifyTarget `json:"targets"`
	Rules   []NotifyRule            `json:"rules"`
}

// NotifyTarget is one of the ways to tell somebody; exactly one member is there.
type NotifyTarget struct {
	Webhook      *NotifyWebhook      `json:"webhook,omitempty"`
	SMTP         *NotifySMTP         `json:"smtp,omitempty"`
	Alertmanager *NotifyAlertmanager `json:"alertmanager,omitempty"`
}

// NotifyWebhook is an address that gets signed JSON. Who knows the URL may post there, so it is a secret, too.
type NotifyWebhook struct {
	URL    string `json:"url"`
	Secret string `json:"secret"`
	CA     string `json:"ca,omitempty"` // file of certificates, PEM; empty = those of the system
}

// NotifySMTP is a mail server.
type NotifySMTP struct {
	Server   string   `json:"server"` // HOST:PORT; port 465 is TLS from the first byte
	From     string   `json:"from"`
	To       []string `json:"to"`
	User     string   `json:"user,omitempty"`
	Password string   `json:"password,omitempty"`
	StartTLS bool     `json:"starttls"`
	CA       string   `json:"ca,omitempty"`
}

// NotifyAlertmanager is an Alertmanager of Prometheus.
type NotifyAlertmanager struct {
	URL string `json:"url"`
	CA  string `json:"ca,omitempty"`
}

// NotifyRule says which troubles are reported to which targets.
type NotifyRule struct {
	Kinds    []string      `json:"kinds,omitempty"` // empty, or with "all" in it = all
	Severity string        `json:"severity"`        // the least: error, or warning for both
	Topology string        `json:"topology"`        // only of this one; empty = of any or none
	Targets  []string      `json:"targets"`
	After    time.Duration `json:"after"`  // how long it lasts before it is reported, and is over before that is reported
	Repeat   time.Duration `json:"repeat"` // 0 = reported once
}

const (
	maxNotifyTargets = 32
	minNotifySecret  = 16 // characters
)

var (
	notifyName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$`)
	notifyKind = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$`)
)

// check holds the targets and rules against each other. No text of a fault has a secret.
func (n *Notify) check(dir Dir, fault func(key, format string, args ...any)) {
	if len(n.Targets) > maxNotifyTargets {
		fault(
			"notify.targets",
			"there are %d targets; at most %d can be notified",
			len(n.Targets),
			maxNotifyTargets,
		)
	}
	names := slices.Sorted(maps.Keys(n.Targets))
	for _, name := range names {
		t, key := n.Targets[name], "notify.targets."+name
		if !notifyName.MatchString(name) {
			fault("notify.targets", "%q is not a name of a target: write small letters, digits and -", name)
			continue
		}
		t.check(dir, key, fault)
	}
	for i, r := range n.Rules {
		key := fmt.Sprintf("notify.rules.%d", i)
		for _, name := range r.Targets {
			if _, there := n.Targets[name]; !there {
				fault(key+".targets", "%q is not one of notify.targets%s", name, nearest.Hint(name, names))
			}
		}
		for _, kind := range r.Kinds {
			if !notifyKind.MatchString(kind) {
				fault(key+".kinds", "%q is not a kind of trouble such as link-lost; ctl now lists them", kind)
			}
		}
	}
}

func (t NotifyTarget) check(dir Dir, key string, fault func(key, format string, args ...any)) {
	ways := 0
	if w := t.Webhook; w != nil {
		ways++
		w.check(key+".webhook", fault)
		checkFile(dir, key+".webhook.ca", w.CA, fault)
	}
	if m := t.SMTP; m != nil {
		ways++
		m.check(key+".smtp", fault)
		checkFile(dir, key+".smtp.ca", m.CA, fault)
	}
	if a := t.Alertmanager; a != nil {
		ways++
		checkFile(dir, key+".alertmanager.ca", a.CA, fault)
	}
	if ways != 1 {
		fault(key, "it has %d ways to be notified; write exactly one of webhook, smtp and alertmanager", ways)
	}
}

func (w *NotifyWebhook) check(key string, fault func(key, format string, args ...any)) {
	// A sealed one is looked at when it is opened, at the start.
	if !strings.HasPrefix(w.URL, host.SealedMark) {
		if text := FaultOfWebhook(w.URL); text != "" {
			fault(key+".url", "%s", text)
		}
	}
	if !strings.HasPrefix(w.Secret, host.SealedMark) && len(w.Secret) < minNotifySecret {
		fault(
			key+".secret",
			"it has less than %d characters; openssl rand -hex 32 makes a good one",
			minNotifySecret,
		)
	}
}

// FaultOfWebhook says what is wrong with the URL of a webhook, without its secret parts; empty: nothing.
func FaultOfWebhook(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.User != nil:
		return "it is not an address such as https://hooks.example.org/ctl"
	case u.Scheme == "https":
		return ""
	case u.Scheme == "http" && isLoopback(u.Hostname()):
		return ""
	}
	return "it is not over https; only a webhook on this machine, such as http://127.0.0.1:9000/ctl, may do without"
}

func (m *NotifySMTP) check(key string, fault func(key, format string, args ...any)) {
	name, port, err := net.SplitHostPort(m.Server)
	switch {
	case err != nil || name == "" || port == "":
		fault(key+".server", "%q is not an address such as mail.example.org:587", m.Server)
	case !m.StartTLS && !isLoopback(name) && port != "465":
		fault(key+".starttls", "mail would go to %s unencrypted; only a server on this machine may do without TLS", name)
	}
	for _, a := range append([]string{m.From}, m.To...) {
		if _, err := mail.ParseAddress(a); err != nil {
			fault(key, "%q is not an address of mail such as noc@example.org", a)
		}
	}
	if (m.User == "") != (m.Password == "") {
		fault(key+".user", "user and password are set together or not at all")
	}
}

// isLoopback reports whether a host is this machine.
func isLoopback(name string) bool {
	ip := net.ParseIP(name)
	return name == "localhost" || ip != nil && ip.IsLoopback()
}
