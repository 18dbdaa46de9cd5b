package switchcli

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"ctl.internal/sdk/fault"
)

// known are prompts of switches: the one after login, and those that follow it.
func known() map[string][]string {
	return map[string][]string{
		"DGS-3650:admin#":            {"DGS-3650:admin#"},
		"sw1#":                       {"sw1(config)#", "sw1(config-if)#", "sw1>"},
		"a-very-long-switch-name-1#": {"a-very-long-switch-n(config)#", "a-very-long-switch-n(config-if)#", "a-very-long-switch-name-1>"},
		"RP/0/RSP0/CPU0:r1#":         {"RP/0/RSP0/CPU0:r1(config)#"},
		"* X440.1 #":                 {"* X440.2 #", "X440.3 #", "* X440.10 >"},
		"Slot-1 Stack.1 #":           {"* Slot-1 Stack.2 #"},
		"VSP:1>":                     {"VSP:1#", "VSP:1(config)#"},
		"*A:sr1#":                    {"*A:sr1>config#", "A:sr1#", "*A:sr1>config>service>vpls$", "B:sr1>config>router#"},
		"A:admin@sr1#":               {"*A:admin@sr1#"},
		"<sw1>":                      {"[sw1]", "[~sw1-GigabitEthernet0/0/1]", "[*sw1]"},
		"[admin@sw1] >":              {"[admin@sw1] /interface bridge>"},
		"(UBNT EdgeSwitch) >":        {"(UBNT EdgeSwitch) #", "(UBNT EdgeSwitch) (Config)#"},
		"admin@sonic:~$":             {"admin@sonic:/etc$", "admin@sonic:~#"},
		"FS124D $":                   {"FS124D (interface) $", "FS124D #"},
		"user@qfx>":                  {"user@qfx#"},
		"console>":                   {"console#", "console(config)#"},
		"telnet@FGS624P>":            {"telnet@FGS624P#", "telnet@FGS624P(config)#"},
		"->":                         {"->"},
	}
}

// A session of each switch: login, and a command in each of its modes. The documentation lists the prompts.
func TestKnownPrompts(t *testing.T) {
	doc, err := os.ReadFile("../../docs/switch-driver.md")
	if err != nil {
		t.Fatal(err)
	}
	for first, others := range known() {
		if !strings.Contains(string(doc), "`"+first+"`") {
			t.Errorf("docs/switch-driver.md does not list the prompt %s", first)
		}
		to := device(t, func(c *teletype) {
			c.say("\r\nLogin Name:")
			c.line()
			c.say("\r\nPassword:")
			c.line()
			c.say("\r\nWelcome, all\r\n" + first + " ")
			for i := 0; c.line() != "\x00gone"; i++ {
				c.say("next\r\nVLAN 5 is up\r\n" + others[i%len(others)] + " ")
			}
		})
		s := open(t, to, Dialogue{})
		for range others {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			got, err := s.Run(ctx, "next")
			cancel()
			if err != nil || got != "VLAN 5 is up\n" {
				t.Errorf("%s, then %v: %q %v", first, others, got, err)
				break
			}
		}
	}
	for _, c := range []struct{ seen, said string }{
		{"* X440.1 #", "X450.2 #"}, {"* X440.1 #", "X440 #"}, {"*A:sr1#", "*A:sr2>config#"}, {"a-very-long-switch-name-1#", "a-very-long-switch-x(config)#"},
		{"a-very-long-switch-name-1#", "a-very-long-switch-n#"}, {"admin@sonic:~$", "root@sonic:~#"}, {"sw1#", "sw2$"},
	} {
		if compilePrompts(c.seen).MatchString("done\n" + c.said) {
			t.Errorf("%q is taken for a prompt of the switch with %q", c.said, c.seen)
		}
	}
	for _, said := range []string{"* only for staff of sw #\n", "it costs 5 $", "100%"} {
		if anyPrompt().MatchString(said) {
			t.Errorf("%q is taken for a prompt", said)
		}
	}
}

// Each page prompt that is known is turned, and left out.
func TestPages(t *testing.T) {
	for _, page := range []string{"--More--", " -- More -- ", "---- More ----", "<--- More --->", "--More-- or (q)uit", "---(more 23%)---", "[--More--]",
		"-- MORE --, next page: Space, next line: Enter, quit: Control-C", "--More-- (<space> = next page, <CR> = one line, C = continuous, Q = quit)",
		"CTRL+C ESC q Quit SPACE n Next Page ENTER Next Entry a All ", "More: <space>,  Quit: q or CTRL+Z, One line: <return> ",
		"More? [next screen <sp>, next line <cr>, filter pattern </>, quit </>]", "-- [Q quit|D dump|down]", "lines 1-23", "(END)",
		"Press any key to continue (Q to quit)", "Press <SPACE> to continue or <Q> to quit:", "Press Q to quit, Enter to print next line or any other key to print next page.",
		"Press ENTER to continue"} {
		to := device(t, func(c *teletype) {
			c.say("User Name:")
			c.line()
			c.say("Password:")
			c.line()
			for c.say("\r\nsw1# "); c.line() != "\x00gone"; c.say("sw1# ") {
				c.say("show\r\none\r\n" + page)
				switch key, _ := c.r.ReadByte(); key {
				case 0:
					return
				case '\r':
					_, _ = c.r.ReadByte() // CR LF is one key
				}
				c.say("\r\n\x1b[Ktwo\r\n")
			}
		})
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		got, err := open(t, to, Dialogue{}).Run(ctx, "show")
		cancel()
		if err != nil || !strings.HasPrefix(got, "one\n") || !strings.HasSuffix(got, "two\n") || strings.TrimSpace(got[4:len(got)-4]) != "" {
			t.Errorf("%q: %q %v", page, got, err)
		}
	}
}

// What is asked before the prompt is answered without changing anything, and a new password is never given.
func TestLoginQuestions(t *testing.T) {
	for question, want := range map[string]string{
		"Press RETURN to get started.":                                         "",
		"Press <Enter> to continue":                                            "",
		"The password needs to be changed. Change now? [Y/N]:":                 "n",
		"Your password will expire in 3 days. Do you want to change it? (y/n)": "n",
		"Would you like to enter the initial configuration dialog? [yes/no]:":  "no",
		"Enter switch number to connect to or <CR>: ":                          "",
		"Select stack unit [1]:":                                               "",
		"1. Menu\r\n2. CLI\r\n3. Quit\r\nSelect an option: ":                   "2",
	} {
		for _, when := range []string{"before", "after"} {
			typed := ""
			to := device(t, func(c *teletype) {
				ask := func(at string) {
					if at == when {
						c.say("\r\nhello\r\n" + question)
						typed = strings.TrimLeft(c.line(), " ")
						c.say("\r\n")
					}
				}
				ask("before")
				c.say("\r\nUsername:")
				c.line()
				c.say("\r\nPassword:")
				c.line()
				ask("after")
				for c.say("\r\nsw1#"); c.line() != "\x00gone"; c.say("sw1#") {
				}
			})
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			s, err := Open(ctx, to, Dialogue{})
			cancel()
			if err != nil || typed != want {
				t.Errorf("%q %s the login: %q is typed, want %q; %v", question, when, typed, want, err)
				continue
			}
			s.Close()
		}
	}
	for _, asked := range []string{"Your password has expired.\r\nEnter new password:", "Old Password: ", "New Password:", "Please retype your password :"} {
		typed := make(chan string, 1)
		to := device(t, func(c *teletype) {
			c.say("\r\nUsername:")
			c.line()
			c.say("\r\nPassword:")
			c.line()
			c.say("\r\n" + asked)
			typed <- c.line()
		})
		_, err := Open(deadline(t), to, Dialogue{})
		if fault.KindOf(err) != fault.Denied || !strings.Contains(err.Error(), "wants a new password for CLI user \"admin\"") {
			t.Errorf("%q: %v", asked, err)
		}
		if got := <-typed; got != "\x00gone" {
			t.Errorf("%q is answered with %q", asked, got)
		}
	}
	loop := device(t, func(c *teletype) {
		for c.say("Change now? [Y/N]"); c.line() != "\x00gone"; c.say("Change now? [Y/N]") {
		}
	})
	if _, err := Open(deadline(t), loop, Dialogue{}); fault.KindOf(err) != fault.Downstream || !strings.Contains(err.Error(), "again and again") {
		t.Errorf("one that asks for ever: %v", err)
	}
}

// The menu of a switch that has one before its command line.
func TestMenuBeforeTheCommandLine(t *testing.T) {
	to := device(t, func(c *teletype) {
		c.say("\x1b[2J\x1b[5;5HEnter Ctrl-Y to begin.")
		if key, _ := c.r.ReadByte(); key != 0x19 {
			return
		}
		c.say("\r\nUsername:")
		c.line()
		c.say("\r\nPassword:")
		c.line()
		c.say("\r\nIP Configuration/Setup...\r\nCommand Line Interface...\r\nLogout...\r\nUse arrow keys to highlight option, press <Return> or <Enter> to select option.")
		if key, _ := c.r.ReadByte(); key != 'c' {
			return
		}
		for c.say("\r\nERS-5510>"); c.line() != "\x00gone"; c.say("done\r\nERS-5510#") {
		}
	})
	s := open(t, to, Dialogue{})
	if _, err := s.Run(deadline(t), "enable"); err != nil {
		t.Error(err)
	}
}

// A time-out shows the last line that the switch sent, without the password.
func TestTimeOutShowsTheLastLine(t *testing.T) {
	to := device(t, func(c *teletype) {
		c.say("Login as:\r\nname:")
		c.line()
		c.say("\r\nPassword:")
		pass := c.line()
		c.say(pass + "\r\nready s3cret\x07 :-)")
		c.line()
	})
	short, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	_, err := Open(short, to, Dialogue{})
	if fault.KindOf(err) != fault.Timeout || !strings.Contains(err.Error(), `the last line that it sent is "ready *** :-)"`) || strings.Contains(err.Error(), to.Password) {
		t.Errorf("%v", err)
	}
}
