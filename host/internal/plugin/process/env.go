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
		if v, ok := os.LookupEnv(k); ok && (k != "HOME" || s.Isolate == nil) {
			env = append(env, k+"="+v)
		}
	}
	if s.Isolate != nil { // what the user of the host has there is closed to it
		env = append(env, "HOME="+s.DataDir, "TMPDIR="+socketDir)
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
