package service

import (
	"context"
	"fmt"
	"os"
	"strings"

	"ctl.internal/plugins/repoinfo/gitcmd"
	"ctl.internal/sdk/fault"
)

// checkGit asks git for its version; 2.31 brought what counting needs.
func (s *Service) checkGit(ctx context.Context) error {
	out, err := s.git.Output(ctx, gitcmd.Call{Dir: os.TempDir(), Args: []string{"version"}})
	if err != nil {
		return err
	}
	return oldGit(string(out))
}

func oldGit(text string) error {
	var major, minor int
	version := strings.TrimPrefix(strings.TrimSpace(text), "git version ")
	if n, _ := fmt.Sscanf(version, "%d.%d", &major, &minor); n == 2 && (major > 2 || (major == 2 && minor >= 31)) {
		return nil
	}
	return fault.New(fault.Unsupported, "git %s is too old or unknown: install git 2.31 or later", version)
}
