package process

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Quota is what one plugin may take of the machine.
type Quota struct {
	Memory    int64 // bytes, with all its processes
	Processes int   // and threads
	CPUWeight int   // cpu.weight of control groups, 1 to 10000; others have 100
}

// hostGroup is the control group of the host itself, below the one that it was started in: only groups without
// processes can bound those below.
const hostGroup = "host"

// groups are control groups of version 2, one for each process of a plugin.
type groups struct {
	dir     string // that they are made in; empty = none can be made
	prefix  string // of the names of those that are of this controller, or of one before it in the same home
	bounded bool   // they bound memory and processes
	missing []string
	quota   Quota
}

// group is one of them; nil = none.
type group struct{ dir string }

// findGroups looks for a place to make groups in: the host's own, which the service manager delegates.
func findGroups(q Quota, l *RunLock) groups {
	g := groups{quota: q, prefix: "ctl-" + l.ID() + "-"}
	const needs = "; the unit of the service needs Delegate=cpu memory pids"
	dir, err := ownGroup()
	if err != nil {
		g.missing = []string{"control groups: " + err.Error()}
		return g
	}
	if filepath.Base(dir) == hostGroup {
		dir = filepath.Dir(dir)
	}
	probe := filepath.Join(dir, g.prefix+"probe")
	_ = os.Remove(probe) // of a controller that was ended here
	if err := os.Mkdir(probe, 0o755); err != nil {
		g.missing = []string{"control groups: " + err.Error() + needs}
		return g
	}
	_ = os.Remove(probe)
	g.dir = dir
	g.removeLeftGroups()
	have, _ := os.ReadFile(filepath.Join(dir, "cgroup.controllers"))
	c := strings.Fields(string(have))
	if !slices.Contains(c, "memory") || !slices.Contains(c, "pids") {
		g.missing = []string{"memory, processes and CPU by control group: there are no controllers in " + dir + needs}
		return g
	}
	if err := g.enableControllers(); err != nil {
		g.missing = []string{"memory, processes and CPU by control group: " + err.Error() + needs}
		return g
	}
	g.bounded = true
	return g
}

// enableControllers lets the groups below bound their processes. The host leaves the group for that, when it is alone in it.
func (g groups) enableControllers() error {
	control := func() error {
		_ = writeControl(g.dir, "cgroup.subtree_control", "+cpu") // the weight is not worth a refusal
		return writeControl(g.dir, "cgroup.subtree_control", "+memory +pids")
	}
	if control() == nil {
		return nil
	}
	procs, err := os.ReadFile(filepath.Join(g.dir, "cgroup.procs"))
	own := strconv.Itoa(os.Getpid())
	if err != nil || strings.TrimSpace(string(procs)) != own {
		return fmt.Errorf("other processes are in %s", g.dir)
	}
	host := filepath.Join(g.dir, hostGroup)
	if err := os.Mkdir(host, 0o755); err != nil && !os.IsExist(err) {
		return err
	}
	if err := writeControl(host, "cgroup.procs", strconv.Itoa(os.Getpid())); err != nil {
		return err
	}
	return control()
}

// removeLeftGroups removes the groups that controllers of this home have left, with what is left in them. They have ended: the
// run directory is locked.
func (g groups) removeLeftGroups() {
	left, _ := filepath.Glob(filepath.Join(g.dir, g.prefix+"*"))
	for _, dir := range left {
		old := &group{dir}
		old.kill()
		old.remove()
	}
}

// addGroup makes a group and puts a process into it.
func (g groups) addGroup(pid, number int) *group {
	if g.dir == "" {
		return nil
	}
	dir := filepath.Join(g.dir, fmt.Sprintf("%s%d-%d", g.prefix, os.Getpid(), number))
	if os.Mkdir(dir, 0o755) != nil {
		return nil
	}
	for file, n := range map[string]int64{
		"memory.max":       g.quota.Memory,
		"memory.oom.group": 1,
		"pids.max":         int64(g.quota.Processes),
		"cpu.weight":       int64(g.quota.CPUWeight),
	} {
		if g.bounded && n > 0 {
			_ = writeControl(dir, file, strconv.FormatInt(n, 10))
		}
	}
	if writeControl(dir, "cgroup.procs", strconv.Itoa(pid)) != nil {
		_ = os.Remove(dir)
		return nil
	}
	return &group{dir}
}

// kill ends all processes of the group at once.
func (g *group) kill() {
	if g != nil {
		_ = writeControl(g.dir, "cgroup.kill", "1") // since Linux 5.14; orphans are ended one by one, too
	}
}

// remove removes the group; its processes may take a moment to leave it.
func (g *group) remove() {
	if g == nil {
		return
	}
	for deadline := time.Now().Add(endTime); os.Remove(g.dir) != nil && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
}

func writeControl(dir, file, text string) error {
	return os.WriteFile(filepath.Join(dir, file), []byte(text), 0)
}

// ownGroup is the directory of the control group, version 2, that this process is in.
func ownGroup() (string, error) {
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", err
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(own)) {
		path, ok := strings.CutPrefix(strings.TrimSpace(line), "0::")
		if !ok {
			continue
		}
		for mount := range strings.Lines(string(mounts)) {
			before, after, _ := strings.Cut(mount, " - ")
			f := strings.Fields(before)
			if strings.HasPrefix(after, "cgroup2 ") && len(f) > 4 {
				rest, err := filepath.Rel(f[3], path)
				if err == nil && filepath.IsLocal(rest) {
					return filepath.Join(f[4], rest), nil
				}
			}
		}
	}
	return "", fmt.Errorf("there is no file system of version 2 with the group of this process")
}
