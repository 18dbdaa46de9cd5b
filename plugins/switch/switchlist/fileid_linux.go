package switchlist

import (
	"fmt"
	"os"
	"syscall"
)

// fileID identifies a file or directory on this machine.
func fileID(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%d:%d", st.Dev, st.Ino)
}
