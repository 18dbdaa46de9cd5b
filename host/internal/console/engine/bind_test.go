package engine

import (
	"strings"
	"testing"

	"ctl.internal/internal/console"
)

func TestBind(t *testing.T) {
	for line, want := range map[string]string{
		"feature:list":                         "feature:list\n",
		"feature:list -i --required":           "feature:list installed=true required=true\n",
		"feature:list -ir":                     "feature:list installed=true required=true\n",
		"feature:list --installed=false":       "feature:list installed=false\n",
		"feature:install a b/1.0":              `feature:install name=["a" "b/1.0"]` + "\n",
		"feature:install -- -a --help":         `feature:install name=["-a" "--help"]` + "\n",
		"log:set debug":                        `log:set level=["DEBUG"]` + "\n",
		"log:set INFO org.ctl":                 `log:set name=["org.ctl"] level=["INFO"]` + "\n",
		"aaa:add-user --name x":                "aaa:add-user limit=5 name=x\n",
		"aaa:add-user -name x -n 7":            "aaa:add-user limit=7 name=x\n",
		"aaa:add-user --userName=x --limit -3": "aaa:add-user limit=-3 name=x\n",
		"aaa:add-user --NAME x":                "aaa:add-user limit=5 name=x\n",
		"aaa:add-user -name x -pass '-p 1'":    "aaa:add-user limit=5 name=x password=-p 1\n",
		"aaa:add-user --name x --password --y": "aaa:add-user limit=5 name=x password=--y\n",
		"aaa:add-user --name= --kind GREEN":    "aaa:add-user kind=green limit=5 name=\n",
		"log:set INFO -5":                      `log:set name=["-5"] level=["INFO"]` + "\n",
		"log:set INFO -":                       `log:set name=["-"] level=["INFO"]` + "\n",
		"test:lines | head -2":                 "b 2\na 10\n",
		"test:lines | head -n 1":               "b 2\n",
		"test:lines | head 1":                  "b 2\n",
	} {
		t.Run(line, func(t *testing.T) {
			out, errs, code := run(t, newTestSession(nil), line, "")
			got := strings.Replace(out, `level=["INFO"] name=["org.ctl"]`, `name=["org.ctl"] level=["INFO"]`, 1)
			if code != console.OK || got != want {
				t.Errorf("code %d, got %q %q, want %q", code, got, errs, want)
			}
		})
	}
}

func TestBindFaults(t *testing.T) {
	for line, want := range map[string]string{
		"feature:install":                    "feature:install: the argument name is missing: the features; usage: feature:install name...",
		"feature:list x":                     `"x" is one argument too many; usage: feature:list [--installed] [--required]`,
		"feature:list --instaled":            "there is no option --instaled; did you mean --installed?",
		"feature:list -x":                    "there is no option -x",
		"feature:list -i -i":                 "the option --installed is given twice",
		"feature:list -i=maybe":              `the option --installed takes no value, or true or false, not "maybe"`,
		"log:set DEBG":                       `the argument level takes DEBUG or INFO, not "DEBG"; did you mean DEBUG?`,
		"aaa:add-user":                       "the option --name is missing: the name",
		"aaa:add-user --name":                "the option --name needs a value: the name",
		"aaa:add-user --name --limit 3":      "the option --name needs a value and --limit follows; write --name=--limit if that is the value",
		"aaa:add-user --name x --limit many": `the option --limit needs a whole number, not "many"`,
		"aaa:add-user --name x --kind blue":  `the option --kind takes red or green, not "blue"`,
		"feature:list --format xml":          `the option --format takes text or json, not "xml"`,
		"test:rows --format xml":             `the option --format takes text, json, table, yaml or csv, not "xml"`,
		"feature:install x --format yaml":    `the option --format takes text or json, not "yaml"`,
		"test:rows --sort size,nam":          `--sort: there is no column "nam" (did you mean "name"?); there are name, size`,
		"test:rows --where 'size >'":         "--where: the condition ends where a value is expected",
		"feature:install x --sort name":      "there is no option --sort",
		"test:lines | grep":                  "grep: the argument pattern is missing",
		"test:lines | grep '('":              "cannot be read",
		"feature:list 'a":                    "the quote ' that begins at column 14 is not closed",
		"alias 'a b=c'":                      "write it as alias NAME='COMMAND'",
		"watch -n 0 feature:list":            "the interval must be a number of seconds from 0.1 to 86400",
		"watch -n NaN feature:list":          "the interval must be a number of seconds from 0.1 to 86400",
	} {
		t.Run(line, func(t *testing.T) {
			_, errs, code := run(t, newTestSession(nil), line, "")
			if code != console.Usage || !strings.Contains(errs, want) {
				t.Errorf("code %d, got %q, want %q", code, errs, want)
			}
		})
	}
}
