package process

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Rights of files. A rule about a file, not a directory, has only those of onFiles.
const (
	canRead  = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	canRun   = canRead | unix.LANDLOCK_ACCESS_FS_EXECUTE
	canWrite = canRead | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO |
		unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_REFER | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	neverGranted = unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK
	onFiles      = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
)

// fileRights are all rights of files that a version of Landlock knows, 0 without Landlock.
func fileRights(abi int) uint64 {
	all := uint64(canRun | canWrite | neverGranted)
	switch {
	case abi < 1:
		return 0
	case abi < 2:
		return all &^ (unix.LANDLOCK_ACCESS_FS_REFER | unix.LANDLOCK_ACCESS_FS_TRUNCATE)
	case abi < 3:
		return all &^ unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	return all
}

// What the system provides to every program: programs and libraries, settings, what the kernel shows. Landlock itself
// closes the memory and environments below /proc of processes that are not the plugin's.
var (
	systemRun  = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/nix/store", "/gnu/store", "/snap"}
	systemRead = []string{"/proc", "/sys", "/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager", "/var/lib/ca-certificates"}
	devices    = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}
)

// rule is one path that a process may use, or an open file in its place.
type rule struct {
	path   string
	fd     int // of an open file; 0 = path
	rights uint64
}

// publicEtc is what a process may read in /etc when it is not kept from the rest by the modes of the files.
var publicEtc = []string{"resolv.conf", "hosts", "host.conf", "hostname", "nsswitch.conf", "gai.conf", "services", "protocols", "passwd", "group", "localtime", "timezone", "os-release",
	"ld.so.cache", "ld.so.conf", "ld.so.conf.d", "mime.types", "alternatives", "ssl/certs", "ssl/cert.pem", "ssl/openssl.cnf", "ca-certificates", "pki/tls/certs", "pki/tls/openssl.cnf",
	"pki/ca-trust", "crypto-policies", "gitconfig", "ssh/ssh_config", "ssh/ssh_config.d", "ssh/ssh_known_hosts", "snmp/snmp.conf", "python*", "static"}

// bounds are what one process is restricted to.
type bounds struct {
	Isolate
	rules        []rule
	capabilities []uintptr
}

// boundsFor returns nil for nil. own are the directories of its own.
func (i *Isolate) boundsFor(program *os.File, path string, own ...string) *bounds {
	if i == nil {
		return nil
	}
	reach := own
	if needs := interpreterPaths(program); len(needs) > 0 {
		reach = append(append(slices.Clone(own), path), needs...)
	}
	b := &bounds{
		Isolate:      *i,
		capabilities: i.keptCapabilities(reach...),
	}
	etc := []string{"/etc"}
	if os.Geteuid() == 0 &&
		slices.ContainsFunc(b.capabilities, func(c uintptr) bool {
			return c == unix.CAP_DAC_OVERRIDE || c == unix.CAP_DAC_READ_SEARCH
		}) {
		etc = nil
		for _, name := range publicEtc {
			found, _ := filepath.Glob("/etc/" + name) // the patterns are well-formed
			etc = append(etc, found...)
		}
	}
	b.rules = fileRules(*i, program, path, own, etc)
	return b
}

// fileRules lists what a process may use. own are the directories of its own, etc what it may read of /etc.
func fileRules(i Isolate, program *os.File, path string, own, etc []string) []rule {
	var out []rule
	add := func(rights uint64, paths ...string) {
		for _, p := range paths {
			for _, part := range pathsAround(p, i.Home) {
				out = append(out, rule{
					path:   part,
					rights: rights,
				})
			}
		}
	}
	add(canRead, etc...)
	add(canRun, systemRun...)
	add(canRead, systemRead...)
	add(canRead, os.Getenv("SSL_CERT_FILE"), os.Getenv("SSL_CERT_DIR"))
	for _, d := range devices {
		out = append(
			out,
			rule{
				path:   d,
				rights: unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE,
			},
		)
	}
	for _, d := range own {
		out = append(out, rule{
			path:   d,
			rights: canWrite,
		}) // what it wrote itself it may not run
	}
	if program != nil {
		out = append(out, rule{
			fd:     int(program.Fd()),
			rights: canRun,
		})
		needs := interpreterPaths(program)
		add(canRun, needs...)
		if len(needs) > 0 { // the modules of a script lie beside it
			add(canRead, filepath.Dir(path))
		}
	}
	for _, f := range i.Files {
		rights := uint64(canRead)
		if f.Run {
			rights |= canRun
		}
		if f.Write {
			rights |= canWrite
		}
		add(rights, f.Path)
	}
	return out
}

// pathsAround returns what makes up a path without the home, when the path is the home or above it: Landlock can only allow.
func pathsAround(path, home string) []string {
	if path == "" {
		return nil
	}
	path = resolveLinks(path)
	rest, err := filepath.Rel(path, home)
	if home == "" || err != nil || !filepath.IsLocal(rest) {
		return []string{path}
	}
	if rest == "." {
		return nil
	}
	entries, _ := os.ReadDir(path) // what cannot be listed is not allowed
	var out []string
	for _, e := range entries {
		switch p := filepath.Join(path, e.Name()); {
		case e.Name() == strings.SplitN(rest, "/", 2)[0]:
			out = append(out, pathsAround(p, home)...)
		case e.Type()&os.ModeSymlink == 0: // a link may lead into the home, and what it leads to has a place of its own
			out = append(out, p)
		}
	}
	return out
}

// interpreterPaths lists what the interpreter of a script needs, nothing for other programs: itself, and the tree that its
// directory bin is in.
func interpreterPaths(program *os.File) []string {
	if program == nil {
		return nil
	}
	line, _, err := bufio.NewReader(io.NewSectionReader(program, 0, 4096)).ReadLine()
	if err != nil || !bytes.HasPrefix(line, []byte("#!")) {
		return nil
	}
	words := strings.Fields(string(line[2:]))
	if len(words) == 0 {
		return nil
	}
	name := words[0]
	if filepath.Base(name) == "env" {
		for _, w := range words[1:] {
			if !strings.HasPrefix(w, "-") && !strings.Contains(w, "=") {
				name = w
				break
			}
		}
	}
	file, err := exec.LookPath(name)
	if err != nil {
		return []string{words[0]}
	}
	out := []string{file}
	for _, p := range []string{file, resolveLinks(file)} {
		if bin := filepath.Dir(p); filepath.Base(bin) == "bin" {
			out = append(out, filepath.Dir(bin))
		}
	}
	return out
}

func resolveLinks(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// allowFiles adds the rules to a ruleset. A path that is not there is left out.
func allowFiles(ruleset int, handled uint64, rules []rule) error {
	for _, r := range rules {
		fd := r.fd
		if fd == 0 {
			var err error
			if fd, err = unix.Open(r.path, unix.O_PATH|unix.O_CLOEXEC, 0); err != nil {
				continue
			}
		}
		var st unix.Stat_t
		rights := r.rights & handled
		if unix.Fstat(fd, &st) == nil && st.Mode&unix.S_IFMT != unix.S_IFDIR {
			rights &= onFiles
		}
		attr := struct {
			access uint64
			fd     int32
		}{rights, int32(fd)}
		_, _, errno := unix.Syscall6(
			unix.SYS_LANDLOCK_ADD_RULE,
			uintptr(ruleset),
			unix.LANDLOCK_RULE_PATH_BENEATH,
			uintptr(unsafe.Pointer(&attr)),
			0,
			0,
			0,
		)
		if r.fd == 0 {
			_ = unix.Close(fd)
		}
		if errno != 0 && errno != unix.EBADFD { // some kernel file systems take no rules
			return errno
		}
	}
	return nil
}
