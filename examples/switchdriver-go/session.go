package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/switchdriver"
)

// maxAnswer is the maximum size of the answer to one command, in bytes.
const maxAnswer = 1_000_000

// session is a login session on a switch. Package sdk/plugintest/simline simulates a switch and documents the
// commands.
type session struct {
	conn  net.Conn
	in    *bufio.Scanner
	stop  func() bool
	again func() (*session, error) // a new session on the same switch
}

// dial logs in. When ctx ends, every wait of the session ends.
func dial(ctx context.Context, address string, port uint32, cli *pluginv1.CliAccess) (*session, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(address, strconv.Itoa(int(port))))
	if err != nil {
		return nil, err
	}
	s := &session{conn: conn, in: bufio.NewScanner(conn), stop: context.AfterFunc(ctx, func() { conn.Close() }),
		again: func() (*session, error) { return dial(ctx, address, port, cli) }}
	if !s.in.Scan() || s.in.Text() != "ready" {
		s.close()
		return nil, errors.New("there is no switch of this make")
	}
	if strings.ContainsAny(cli.GetUser()+cli.GetPassword(), " \r\n") {
		s.close()
		return nil, errors.New("the user or password in the switch list holds a blank")
	}
	if _, err := s.ask("login %s %s", cli.GetUser(), cli.GetPassword()); err != nil {
		s.close()
		return nil, fmt.Errorf("the login in the switch list is refused: %w", err)
	}
	return s, nil
}

func (s *session) close() {
	s.stop()
	s.conn.Close()
}

// ask sends one command and returns the lines of the answer. The values in it are numbers or were checked, so they
// contain no line end.
func (s *session) ask(format string, args ...any) ([]string, error) {
	if _, err := fmt.Fprintf(s.conn, format+"\n", args...); err != nil {
		return nil, err
	}
	var lines []string
	for size := 0; s.in.Scan(); {
		line := s.in.Text()
		if text, bad := strings.CutPrefix(line, "error "); bad {
			return nil, fmt.Errorf("the switch refuses: %.200s", text)
		}
		if line == "ok" {
			return lines, nil
		}
		if size += len(line); size > maxAnswer {
			return nil, fmt.Errorf("the switch says more than %d bytes", maxAnswer)
		}
		lines = append(lines, line)
	}
	if err := s.in.Err(); err != nil {
		return nil, err
	}
	return nil, errors.New("the switch hung up")
}

func (s *session) ports() ([]*switchdriver.Port, error) {
	lines, err := s.ask("show ports")
	status := map[string]int32{"up": 1, "down": 2}
	var out []*switchdriver.Port
	for _, line := range lines {
		p := &switchdriver.Port{}
		var admin, link string
		head, name, ok := strings.Cut(line, " name ")
		if _, err := fmt.Sscanf(head, "port %d admin %s link %s", &p.Number, &admin, &link); err != nil || !ok {
			return nil, fmt.Errorf("the answer %.80q is not understood", line)
		}
		p.Name, p.AdminStatus, p.OperStatus = name, status[admin], status[link]
		out = append(out, p)
	}
	return out, err
}

func (s *session) vlans() ([]*switchdriver.VLAN, error) {
	lines, err := s.ask("show vlans")
	var out []*switchdriver.VLAN
	for _, line := range lines {
		v := &switchdriver.VLAN{}
		var tagged, untagged string
		head, name, ok := strings.Cut(line, " name ")
		if _, err := fmt.Sscanf(head, "vlan %d tagged %s untagged %s", &v.VlanId, &tagged, &untagged); err != nil || !ok {
			return nil, fmt.Errorf("the answer %.80q is not understood", line)
		}
		v.Name, v.UntaggedPorts = name, list(untagged)
		v.EgressPorts = sorted(append(list(tagged), v.UntaggedPorts...))
		out = append(out, v)
	}
	return out, err
}

// list reads "1,2,3"; "-" is an empty list.
func list(s string) (ports []uint32) {
	for item := range strings.SplitSeq(s, ",") {
		if n, err := strconv.ParseUint(item, 10, 16); err == nil {
			ports = append(ports, uint32(n))
		}
	}
	return ports
}

// change sends the differences and reads back. If this fails, it undoes what was sent: a change is made completely or
// not at all.
func (s *session) change(before, want []*switchdriver.VLAN) ([]*switchdriver.VLAN, error) {
	err := s.send(before, want)
	var got []*switchdriver.VLAN
	if err == nil {
		got, err = s.vlans()
	}
	if err == nil && !same(got, want) {
		err = errors.New("the switch accepted the change but does not show it")
	}
	if err == nil {
		return got, nil
	}
	if failed := s.takeBack(before); failed != nil {
		err = fmt.Errorf("%w; what it did of the change could not be undone: %w", err, failed)
	}
	return nil, err
}

// takeBack restores the former VLANs within the remaining time, in a new session, because the switch may have closed
// this one.
func (s *session) takeBack(before []*switchdriver.VLAN) error {
	other, err := s.again()
	if err != nil {
		return err
	}
	defer other.close()
	now, err := other.vlans()
	if err != nil {
		return err
	}
	return other.send(now, before)
}

// send changes the VLANs of the switch to want.
func (s *session) send(have, want []*switchdriver.VLAN) error {
	for _, v := range want {
		if old := find(have, v.GetVlanId()); old != nil && proto.Equal(old, v) {
			continue
		}
		tagged := slices.DeleteFunc(slices.Clone(v.GetEgressPorts()), func(p uint32) bool { return slices.Contains(v.GetUntaggedPorts(), p) })
		if _, err := s.ask("set vlan %d tagged %s untagged %s name %s", v.GetVlanId(), text(tagged), text(v.GetUntaggedPorts()), v.GetName()); err != nil {
			return err
		}
	}
	for _, v := range have {
		if find(want, v.GetVlanId()) == nil {
			if _, err := s.ask("unset vlan %d", v.GetVlanId()); err != nil {
				return err
			}
		}
	}
	return nil
}

func text(ports []uint32) string {
	if len(ports) == 0 {
		return "-"
	}
	items := make([]string, len(ports))
	for i, p := range ports {
		items[i] = strconv.Itoa(int(p))
	}
	return strings.Join(items, ",")
}

func same(a, b []*switchdriver.VLAN) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(v *switchdriver.VLAN) bool {
		w := find(b, v.GetVlanId())
		return w == nil || !proto.Equal(v, w)
	})
}
