package main

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"ctl.internal/bench/rig"
)

const gitFields = "--format=%H%x00%an%x00%ae%x00%ad%x00%cn%x00%ce%x00%cd%x00%B"

// measureAll measures everything and prints each line as it is known.
func (m *measure) measureAll(ctx context.Context) error {
	tip := m.branch
	if tip == "" {
		tip = "HEAD"
	}
	plain := func() (time.Duration, error) {
		return m.timeGit(ctx, "log", "-z", "--date=raw", gitFields, tip)
	}
	counted := func() (time.Duration, error) {
		return m.timeGit(ctx, "log", "-z", "--date=raw", gitFields, "--no-renames", "--diff-merges=first-parent",
			"--numstat", tip)
	}
	peak := 0
	cold := func() (time.Duration, error) { // a new server that knows nothing
		s, err := m.startServer()
		if err != nil {
			return 0, err
		}
		defer s.Stop()
		_, d, _, err := s.timeRequest(ctx, s.base)
		peak = max(peak, rig.Memory(s.PID, "VmHWM")>>10)
		return d, err
	}
	t, err := m.bestTimes(counted, cold)
	if err != nil {
		return err
	}
	rig.Row("git log --numstat", t[0], "")
	rig.Row(
		"cold, with counts",
		t[1],
		fmt.Sprintf("%.2f of git log --numstat; asked for 1.0", rig.Ratio(t[0], t[1])),
	)
	fmt.Printf("%-26s %10d MiB\n", "server's peak memory, cold", peak)
	if err := m.measureContributors(ctx, tip); err != nil {
		return err
	}
	return m.measureWarmRequests(ctx, plain, t[0])
}

// measureContributors compares the contributors of a release, the last twentieth of the history, with what git needs to
// say who they are: the names of all older commits, and the names and lines of those of the release.
func (m *measure) measureContributors(ctx context.Context, tip string) error {
	release, before, err := m.release(ctx, tip)
	if err != nil {
		return err
	}
	byGit := func() (time.Duration, error) {
		older, err := m.timeGit(ctx, "log", "--format=%aN%x00%aE", before)
		if err != nil {
			return 0, err
		}
		newer, err := m.timeGit(ctx, "log", "-z", "--format=%aN%x00%aE%x00%ct%x00%B", "--no-renames", "--no-merges",
			"--numstat", before+".."+release)
		return older + newer, err
	}
	byUs := func() (time.Duration, error) { // a new server that knows nothing
		s, err := m.startServer()
		if err != nil {
			return 0, err
		}
		defer s.Stop()
		query := maps.Clone(s.query)
		query.Del("branch")
		query.Set("ref1", release)
		query.Set("ref2", before)
		_, d, _, err := s.timeRequest(ctx, s.root+"/git/contributors?"+query.Encode())
		return d, err
	}
	t, err := m.bestTimes(byGit, byUs)
	if err != nil {
		return err
	}
	rig.Row("git: names and lines", t[0], "")
	rig.Row(
		"contributors of a release",
		t[1],
		fmt.Sprintf("%.2f of git: names and lines; asked for 1.0", rig.Ratio(t[0], t[1])),
	)
	return nil
}

// release returns two commits, between which is the last twentieth of a history.
func (m *measure) release(ctx context.Context, tip string) (release, before string, err error) {
	count, err := m.gitOutput(ctx, "rev-list", "--count", tip)
	if err != nil {
		return "", "", err
	}
	n, err := strconv.Atoi(strings.TrimSpace(count))
	if err != nil {
		return "", "", err
	}
	if release, err = m.gitOutput(ctx, "rev-parse", tip+"^{commit}"); err != nil {
		return "", "", err
	}
	before, err = m.gitOutput(ctx, "rev-list", "--max-count=1", fmt.Sprintf("--skip=%d", n/20), tip)
	return strings.TrimSpace(release), strings.TrimSpace(before), err
}

func (m *measure) measureWarmRequests(
	ctx context.Context,
	plain timed,
	counted time.Duration,
) error {
	s, err := m.startServer()
	if err != nil {
		return err
	}
	defer s.Stop()
	_, _, size, err := s.timeRequest(ctx, s.base)
	if err != nil {
		return err
	}
	first, n := time.Hour, 0
	again := func() (time.Duration, error) {
		f, d, _, err := s.timeRequest(ctx, s.base)
		first = min(first, f)
		return d, err
	}
	fresh := func(more string) timed {
		return func() (time.Duration, error) { // another question every time: no answer is at hand
			n++
			_, d, got, err := s.timeRequest(ctx, fmt.Sprintf("%s%s&until=%d", s.base, more, 1<<32+n))
			if more == "" && got != size {
				return 0, fmt.Errorf("an answer of %d bytes, not %d", got, size)
			}
			return d, err
		}
	}
	t, err := m.bestTimes(again, fresh(""), plain, fresh("&stats=false"))
	if err != nil {
		return err
	}
	rig.Row(
		"warm, same question",
		t[0],
		fmt.Sprintf("%.0f times git log --numstat; asked for 50", rig.Ratio(counted, t[0])),
	)
	rig.Row("warm, first byte", first, "asked for 50 ms")
	rig.Row(
		"warm, another question",
		t[1],
		fmt.Sprintf("%.0f times git log --numstat", rig.Ratio(counted, t[1])),
	)
	rig.Row("git log --format", t[2], "")
	rig.Row(
		"stats=false",
		t[3],
		fmt.Sprintf("%.2f of git log --format; asked for 0.8", rig.Ratio(t[2], t[3])),
	)
	many, err := m.timeParallelRequests(ctx, s, 32, fmt.Sprintf("&until=%d", 1<<33))
	if err != nil {
		return err
	}
	rig.Row(
		"32 clients, one walk",
		many,
		fmt.Sprintf("%.1f times one client; %d MiB each", rig.Ratio(many, t[1]), size>>20),
	)
	fmt.Printf(
		"%-26s %10d MiB   asked for at most 256\n",
		"server's peak memory",
		rig.Memory(s.PID, "VmHWM")>>10,
	)
	return nil
}
