// Package settings checks the files of a home as a start of the controller would,
// for config:validate and, without a controller, for ctl config validate. Reading
// them for use is package home's.
package settings

import (
	"cmp"
	"context"
	"errors"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"ctl.internal/host/internal/aaa"
	"ctl.internal/host/internal/datastore/open"
	"ctl.internal/host/internal/feature"
	"ctl.internal/host/internal/home"
	"ctl.internal/host/internal/keys/encrypt"
	"ctl.internal/host/internal/keys/keystore"
)

// All is what Validate and Plugins report, each once, by file and line.
func All(ctx context.Context, dir home.Dir, environ []string, at feature.Locator) []home.Problem {
	all := append(Validate(dir, environ), Plugins(ctx, dir, at)...)
	slices.SortFunc(all, func(a, b home.Problem) int {
		return cmp.Or(
			cmp.Compare(a.File, b.File),
			cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Text, b.Text),
		)
	})
	return slices.Compact(all)
}

// Validate reports every fault of the settings, the catalogue and the access rules.
func Validate(dir home.Dir, environ []string) []home.Problem {
	problems := home.Validate(dir, environ)
	info, err := os.Stat(string(dir))
	if err != nil || !info.IsDir() {
		return problems // it says so already
	}
	problems = append(problems, feature.Check(dir)...)
	problems = append(problems, checkServiceFiles(dir)...)
	kinds := aaa.Options{}.RealmKinds
	if loaded, faults := home.Load(dir, environ, nil); len(faults) == 0 {
		kinds = loaded.AAA.RealmKinds
		problems = append(problems, State(dir, loaded.Datastore)...)
	}
	return append(problems, Access(dir, kinds)...)
}

// checkServiceFiles reports what is wrong with the files of the certificate and the encryption
// service, the first fault of each.
func checkServiceFiles(dir home.Dir) []home.Problem {
	var problems []home.Problem
	_, certErr := keystore.ConfigData(dir)
	_, encryptErr := encrypt.ReadConfig(dir)
	for file, err := range map[string]error{
		keystore.ConfigFile(dir): certErr,
		encrypt.ConfigFile(dir):  encryptErr,
	} {
		if err != nil {
			problems = append(
				problems,
				newPlacedProblem(file, strings.TrimPrefix(err.Error(), file+":")),
			)
		}
	}
	return problems
}

// State reports what in data/ would keep a controller from starting: a store that is
// damaged. It changes nothing.
func State(dir home.Dir, store home.Datastore) []home.Problem {
	var problems []home.Problem
	if err := open.Check(dir, store); err != nil {
		problems = append(problems, home.Problem{
			File: dir.Store(),
			Text: err.Error(),
		})
	}
	return problems
}

var urlsSection = regexp.MustCompile(`(?m)^[ \t]*\[urls\]`)

// Access reports every fault of the files that access control reads: sec.ini and
// 08-authn-config.xml. The kinds are those of ctl.yaml, beside the built-in ones.
func Access(dir home.Dir, kinds []string) []home.Problem {
	file := dir.Etc("sec.ini")
	authnFile := dir.Etc("ctl", "karaf", "08-authn-config.xml")
	ini, err := home.ReadRegular(file)
	if err != nil {
		return []home.Problem{{
			File: file,
			Text: "it cannot be read: " + causeWithoutPath(err) + "; restore it, or move etc/ away to get the one of a first start",
		}}
	}
	authn, err := home.ReadRegular(authnFile)
	if err != nil && !os.IsNotExist(err) {
		return []home.Problem{{
			File: authnFile,
			Text: "it cannot be read: " + causeWithoutPath(err),
		}}
	}
	var problems []home.Problem
	if err := aaa.Validate(aaa.Options{
		SecINI:      ini,
		SecININame:  file,
		AuthnConfig: authn,
		RealmKinds:  kinds,
	}); err != nil {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			problems = append(problems, parseProblem(line, file, authnFile))
		}
		return problems
	}
	if !urlsSection.Match(ini) {
		return []home.Problem{{
			File:    file,
			Warning: true,
			Text:    "there is no section [urls]: everybody who can log in may do everything, change users and certificates too",
		}}
	}
	for _, w := range aaa.Warnings(aaa.Options{
		SecINI:     ini,
		SecININame: file,
		RealmKinds: kinds,
	}) {
		problems = append(
			problems,
			home.Problem{
				File:    w.File,
				Line:    w.Line,
				Text:    w.Text,
				Warning: true,
			},
		)
	}
	return problems
}

// parseProblem takes the place from the head of a message that names it.
func parseProblem(text, ini, authn string) home.Problem {
	for file, head := range map[string]string{
		ini:   ini,
		authn: "etc/ctl/karaf/08-authn-config.xml",
	} {
		if rest, ok := strings.CutPrefix(text, head+":"); ok {
			return newPlacedProblem(file, rest)
		}
	}
	return home.Problem{File: ini, Text: text}
}

// newPlacedProblem is a fault in a file, whose text may begin with the line and a colon.
func newPlacedProblem(file, text string) home.Problem {
	p := home.Problem{File: file, Text: strings.TrimSpace(text)}
	if number, said, ok := strings.Cut(text, ":"); ok {
		if line, err := strconv.Atoi(number); err == nil {
			p.Line, p.Text = line, strings.TrimSpace(said)
		}
	}
	return p
}

// causeWithoutPath is the cause without the path, which stands before it already.
func causeWithoutPath(err error) string {
	if p := (*os.PathError)(nil); errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}
