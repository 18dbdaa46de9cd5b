package process

import (
	"os"
	"strconv"
	"strings"

	goplugin "github.com/hashicorp/go-plugin"

	"ctl.internal/internal/wire"
)

// inherited is all that a plugin gets of the host's environment, which may hold
// passwords and tokens.
var inherited = [...]string{"PATH", "TZ", "LANG", "HOME", "SSL_CERT_FILE", "SSL_CERT_DIR"}

// environ builds a plugin's environment from go-plugin's own variables.
func environ(handshake []string, s Spec, socketDir string) []string {
	var env []string
	for _, k := range inherited {
		if v, ok := os.LookupEnv(k); ok {
			env = append(env, k+"="+v)
		}
	}
	env = append(env, s.Env...)
	for _, kv := range handshake {
		if !strings.HasPrefix(kv, goplugin.EnvUnixSocketDir+"=") {
			env = append(env, kv)
		}
	}
	return append(env,
		goplugin.EnvUnixSocketDir+"="+socketDir,
		wire.EnvSocket+"="+s.HostSocket,
		wire.EnvParent+"="+strconv.Itoa(os.Getpid()),
		wire.EnvData+"="+s.DataDir,
	)
}
