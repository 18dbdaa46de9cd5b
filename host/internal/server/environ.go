package server

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
)

// secretVariables are those of the environment that may hold secrets.
var secretVariables = []string{"CTL_ADMIN_PASSWORD", "CTL_USER_PASSWORD", "CTL_DATASTORE_ETCD_PASSWORD"}

// scrubEnvironment blanks the values of variables where /proc/PID/environ shows them.
// os.Unsetenv does not: what is shown there is the memory the kernel handed over,
// of which Go holds a copy.
func scrubEnvironment(names []string) error {
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return err
	}
	// The second field, the name of the program, may hold blanks; see proc_pid_stat(5).
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	const envStart, envEnd = 50 - 3, 51 - 3
	if len(fields) <= envEnd {
		return errors.New("/proc/self/stat does not tell where the environment is")
	}
	from, err1 := strconv.ParseInt(string(fields[envStart]), 10, 64)
	to, err2 := strconv.ParseInt(string(fields[envEnd]), 10, 64)
	const most = 4 << 20 // more than the kernel passes on
	if err1 != nil || err2 != nil || from <= 0 || to < from || to-from > most {
		return fmt.Errorf("/proc/self/stat says that the environment is at %s to %s", fields[envStart], fields[envEnd])
	}
	mem, err := os.OpenFile("/proc/self/mem", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer mem.Close()
	block := make([]byte, to-from)
	if _, err := mem.ReadAt(block, from); err != nil {
		return err
	}
	at := 0
	for _, v := range bytes.SplitAfter(block, []byte{0}) {
		name, value, _ := bytes.Cut(bytes.TrimSuffix(v, []byte{0}), []byte("="))
		for _, secret := range names {
			if string(name) == secret && len(value) > 0 {
				if _, err := mem.WriteAt(bytes.Repeat([]byte("*"), len(value)), from+int64(at+len(name)+1)); err != nil {
					return err
				}
			}
		}
		at += len(v)
	}
	return nil
}
