package server

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// secretVariables are those of the environment that may hold secrets.
var secretVariables = []string{"CTL_ADMIN_PASSWORD", "CTL_USER_PASSWORD", "CTL_DATASTORE_ETCD_PASSWORD"}

// secretsFile is the variable that names the file descriptor with the secrets.
const secretsFile = "CTL_SECRETS_FD"

// hideSecrets takes the secrets out of the environment. /proc/PID/environ shows it as it was at the
// start, whatever os.Unsetenv does; so this program is executed again, in the same process, without
// them, and gets them by a pipe. It returns when there are none, or in the second execution.
func hideSecrets() error {
	if fd := os.Getenv(secretsFile); fd != "" {
		os.Unsetenv(secretsFile)
		n, err := strconv.Atoi(fd)
		if err != nil {
			return fmt.Errorf("%s is %q; ctld sets it by itself, remove it", secretsFile, fd)
		}
		f := os.NewFile(uintptr(n), "secrets")
		defer f.Close()
		var secrets []string
		if err := json.NewDecoder(f).Decode(&secrets); err != nil {
			return fmt.Errorf("%s: %w", secretsFile, err)
		}
		for _, v := range secrets {
			name, value, _ := strings.Cut(v, "=")
			os.Setenv(name, value) // as Go knows it; the kernel shows that of the start
		}
		return nil
	}
	rest := os.Environ()
	var secrets []string
	rest = slices.DeleteFunc(rest, func(v string) bool {
		name, value, _ := strings.Cut(v, "=")
		secret := value != "" && slices.Contains(secretVariables, name)
		if secret {
			secrets = append(secrets, v)
		}
		return secret
	})
	if secrets == nil {
		return nil
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	var pipe [2]int
	if err := syscall.Pipe(pipe[:]); err != nil { // without O_CLOEXEC: it stays open
		return err
	}
	text, err := json.Marshal(secrets)
	if err == nil && len(text) > 4096 { // a pipe takes that much without a reader
		err = fmt.Errorf("%s: at most 4096 bytes together", strings.Join(secretVariables, ", "))
	}
	if err == nil {
		_, err = syscall.Write(pipe[1], text)
	}
	syscall.Close(pipe[1])
	if err != nil {
		return err
	}
	return syscall.Exec(program, os.Args, append(rest, secretsFile+"="+strconv.Itoa(pipe[0])))
}
