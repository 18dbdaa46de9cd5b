package labctl

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"ctl.internal/internal/lab/network"
	"ctl.internal/internal/lab/simcli"
	"ctl.internal/internal/lab/simrouter"
	"ctl.internal/internal/lab/sshhost"
	"ctl.internal/internal/netconf"
	"ctl.internal/internal/netconf/xmltree"
)

// routerFlags are the command line of `ctl-lab routers`.
type routerFlags struct {
	netconf, later, cli, basePort int
	listen, list                  string
	leave                         []string
	untilEOF, asJSON              bool
}

// maxRouters bounds the routers of one process.
const maxRouters = 4096

// routersCommand runs simulated BIER routers instead of switches.
func routersCommand(control *string) *cobra.Command {
	var f routerFlags
	cmd := &cobra.Command{
		Use:   "routers --netconf 4 --cli 1 --list FILE",
		Short: "run simulated BIER routers: NETCONF (user lab, password lab), or a command line",
		Long: "Runs BIER routers r1, r2, … until SIGTERM or SIGINT, and prints one line when they listen: first those with\n" +
			"NETCONF and ietf-bier of 2016-07-23, then those with the later draft, then those with a command line. User and\n" +
			"password are lab. Change them with `ctl-lab router`.",
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runRouters(cmd, f, *control)
		},
	}
	p := cmd.Flags()
	p.IntVar(&f.netconf, "netconf", 4, "routers with ietf-bier of 2016-07-23")
	p.IntVar(&f.later, "rfc8349", 0, "routers with the later ietf-bier, below ietf-routing")
	p.IntVar(&f.cli, "cli", 0, "routers with a command line")
	p.IntVar(&f.basePort, "base-port", 0, "first TCP port; 0 is any free ones")
	p.StringVar(&f.listen, "listen", "127.0.0.1", "loopback address")
	p.StringVar(&f.list, "list", "", "write the routers here as JSON, atomically")
	p.StringSliceVar(
		&f.leave,
		"leave",
		nil,
		"capabilities that they lack: candidate, confirmed-commit, rollback-on-error, notifications, interleave, base:1.1",
	)
	p.BoolVar(&f.untilEOF, "until-eof", false, "end when standard input closes, too")
	p.BoolVar(&f.asJSON, "json", false, "print the ready line as JSON")
	return cmd
}

// routerCommand changes routers that run, by their control socket.
func routerCommand(control *string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "router",
		Short: "look at simulated routers that run, and make them misbehave",
	}
	sub := func(use, short string, args int, method, path string, keys ...string) {
		cmd.AddCommand(clientCommand(control, use, short, args, method, path, keys...))
	}
	sub("list", "print the routers as JSON, with what they were asked", 0, "GET", "/routers")
	sub("config ROUTER", "print what a router holds", 1, "GET", "/config", "router")
	sub(
		"power ROUTER on|off|drop|new-key",
		"switch a router off or on, cut its sessions, or give it another host key",
		2,
		"POST",
		"/power",
		"router",
		"state",
	)
	sub(
		"wipe ROUTER",
		"take its BIER configuration away, as another operator does",
		1,
		"POST",
		"/wipe",
		"router",
	)
	sub(
		"refuse ROUTER OPERATION|none",
		"have a router refuse an operation (edit-config, commit, lock, …)",
		2,
		"POST",
		"/refuse",
		"router",
		"operation",
	)
	sub(
		"collision ROUTER BFR-ID",
		"have a router report a bfr-id-collision",
		2,
		"POST",
		"/collision",
		"router",
		"bfr-id",
	)
	return cmd
}

// simulated is one router, of either kind.
type simulated struct {
	name, kind string
	*sshhost.Listener
	netconf *simrouter.Router
	cli     *simcli.Router
}

func (s *simulated) takeDown() {
	if s.netconf != nil {
		s.netconf.Down()
		return
	}
	s.Listener.Down()
}

// routerView is a router as the control socket and --list show it.
type routerView struct {
	Name     string         `json:"name"`
	Kind     string         `json:"kind"`
	Host     string         `json:"host"`
	Port     int            `json:"port"`
	User     string         `json:"user"`
	Password string         `json:"password"`
	HostKey  string         `json:"host-key"`
	Asked    map[string]int `json:"asked,omitempty"`
}

func (s *simulated) describeRouter() routerView {
	v := routerView{
		Name:     s.name,
		Kind:     s.kind,
		Host:     s.Host(),
		Port:     s.Port(),
		User:     "lab",
		Password: "lab",
		HostKey:  s.HostKey(),
	}
	if s.netconf != nil {
		v.Asked = s.netconf.Counts()
	} else {
		v.Asked = map[string]int{"lines": len(s.cli.Typed())}
	}
	return v
}

func (f *routerFlags) startRouters() (all []*simulated, err error) {
	total := f.netconf + f.later + f.cli
	if f.netconf < 0 || f.later < 0 || f.cli < 0 || total < 1 || total > maxRouters {
		return nil, fmt.Errorf(
			"--netconf %d --rfc8349 %d --cli %d: 1 to %d routers belong here",
			f.netconf,
			f.later,
			f.cli,
			maxRouters,
		)
	}
	if a, err := netip.ParseAddr(f.listen); err != nil || !a.IsLoopback() {
		return nil, fmt.Errorf("--listen %.40q: a loopback address belongs here", f.listen)
	}
	known := map[string]string{
		"candidate":         netconf.Candidate,
		"confirmed-commit":  netconf.ConfirmedCommit,
		"rollback-on-error": netconf.RollbackOnError,
		"notifications":     netconf.Notifications,
		"interleave":        netconf.Interleave,
		"base:1.1":          netconf.Base11,
	}
	o := simrouter.Options{}
	for _, l := range f.leave {
		uri, ok := known[l]
		if !ok {
			return nil, fmt.Errorf(
				"--leave %.40q: one of candidate, confirmed-commit, rollback-on-error, notifications, interleave, base:1.1 belongs here",
				l,
			)
		}
		o.Leave, o.Base10 = append(o.Leave, uri), o.Base10 || l == "base:1.1"
	}
	defer func() {
		if err != nil {
			stopAll(all)
		}
	}()
	for i := range total {
		s := &simulated{name: fmt.Sprintf("r%d", i+1)}
		port := 0
		if f.basePort > 0 {
			port = f.basePort + i
		}
		address := net.JoinHostPort(f.listen, strconv.Itoa(port))
		switch {
		case i < f.netconf+f.later:
			o.Address, o.Model, s.kind = address, simrouter.Draft00(), "netconf"
			if i >= f.netconf {
				o.Model, s.kind = simrouter.RFC8349(), "rfc8349"
			}
			if s.netconf, err = simrouter.Start(o); err == nil {
				s.Listener = s.netconf.Listener
			}
		default:
			s.kind = "cli"
			if s.cli, err = simcli.Start(sshhost.Options{Address: address}); err == nil {
				s.Listener = s.cli.Listener
			}
		}
		if err != nil {
			return all, fmt.Errorf("router %s: %w", s.name, err)
		}
		all = append(all, s)
	}
	return all, nil
}

func stopAll(all []*simulated) {
	for _, s := range all {
		s.takeDown()
	}
}

// runRouters runs them until the end of the context or of the input.
func runRouters(cmd *cobra.Command, f routerFlags, control string) error {
	all, err := f.startRouters()
	if err != nil {
		return err
	}
	defer stopAll(all)
	if f.list != "" {
		text, err := json.MarshalIndent(describeRouters(all), "", "  ")
		if err == nil {
			err = network.WriteFile(f.list, append(text, '\n'))
		}
		if err != nil {
			return fmt.Errorf("--list: %w", err)
		}
	}
	return serveUntilEnd(cmd, control, routerHandler(all), f.untilEOF, func() error {
		if f.asJSON {
			return json.NewEncoder(cmd.OutOrStdout()).Encode(map[string]any{
				"routers": describeRouters(all),
				"control": control,
			})
		}
		_, err := fmt.Fprintf(cmd.OutOrStdout(), "ready %d routers\n", len(all))
		return err
	})
}

func describeRouters(all []*simulated) []routerView {
	out := make([]routerView, len(all))
	for i, s := range all {
		out[i] = s.describeRouter()
	}
	return out
}

// routerHandler is the control interface: GET /routers, /config, and POST /power,
// /wipe, /refuse, /collision with parameters in the query.
func routerHandler(all []*simulated) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /routers", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, describeRouters(all))
	})
	on := func(pattern string, do func(s *simulated, get func(string) string) (string, error)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			get := r.URL.Query().Get
			i := slices.IndexFunc(all, func(s *simulated) bool {
				return s.name == get("router")
			})
			if i < 0 {
				http.Error(
					w,
					fmt.Sprintf("no router %.40q: they are r1 to r%d", get("router"), len(all)),
					http.StatusBadRequest,
				)
				return
			}
			text, err := do(all[i], get)
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			fmt.Fprint(w, text)
		})
	}
	on("GET /config", func(s *simulated, _ func(string) string) (string, error) {
		return s.configText(), nil
	})
	on("POST /power", func(s *simulated, get func(string) string) (string, error) {
		return "", s.switchPower(get("state"))
	})
	on("POST /wipe", func(s *simulated, _ func(string) string) (string, error) {
		return "", s.wipeConfig()
	})
	on("POST /refuse", func(s *simulated, get func(string) string) (string, error) {
		if s.netconf == nil {
			return "", fmt.Errorf("router %s has no NETCONF", s.name)
		}
		op := get("operation")
		if op == "none" {
			op = ""
		}
		s.netconf.Set(simrouter.Faults{Refuse: op})
		return "", nil
	})
	on("POST /collision", func(s *simulated, get func(string) string) (string, error) {
		id, err := strconv.ParseUint(get("bfr-id"), 10, 16)
		if err != nil || s.netconf == nil {
			return "", fmt.Errorf("a router with NETCONF and a bfr-id of 0 to 65535 belong here")
		}
		s.netconf.Notify(simrouter.BFRIDCollision(uint32(id)))
		return "", nil
	})
	return mux
}

func (s *simulated) configText() string {
	if s.cli != nil {
		return s.cli.Config()
	}
	var b strings.Builder
	for _, n := range s.netconf.Config().Kids {
		writeIndented(&b, n, "")
	}
	return b.String()
}

// writeIndented writes a configuration for people.
func writeIndented(b *strings.Builder, n *xmltree.Node, space string) {
	if len(n.Kids) == 0 {
		fmt.Fprintf(b, "%s%s %s\n", space, n.Name, n.Trimmed())
		return
	}
	fmt.Fprintf(b, "%s%s\n", space, n.Name)
	for _, k := range n.Kids {
		writeIndented(b, k, space+"  ")
	}
}

func (s *simulated) switchPower(state string) error {
	switch state {
	case "on":
		return s.Up("")
	case "off":
		s.takeDown()
	case "drop":
		s.Drop()
	case "new-key":
		return s.NewHostKey()
	default:
		return fmt.Errorf("state %.20q: on, off, drop or new-key belongs here", state)
	}
	return nil
}

func (s *simulated) wipeConfig() error {
	if s.cli != nil {
		s.cli.Remove("router bier")
		return nil
	}
	all := xmltree.New("", "")
	for _, n := range s.netconf.Config().Kids {
		all.Add(xmltree.New(n.Space, n.Name).With(netconf.NS, "operation", "remove"))
	}
	return s.netconf.Change(all)
}
