package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"ctl.internal/bench/rig"
)

// verifyNumbers compares all numbers of one repository with those that git prints itself: every
// field of every commit, and the sums of a report added up here from git's output alone.
func (m *measure) verifyNumbers(ctx context.Context) error {
	s, err := m.startServer()
	if err != nil {
		return err
	}
	defer s.Stop()
	tip := m.branch
	if tip == "" {
		tip = "HEAD"
	}
	said, err := m.readGitCommits(ctx, tip)
	if err != nil {
		return err
	}
	var got struct{ Commits []map[string]any }
	if err := s.decodeJSON(
		ctx,
		"/git/commits",
		url.Values{"skip": {"false"}, "branch": {tip}},
		&got,
	); err != nil {
		return err
	}
	differ := 0
	report := func(name string, ours, gits any) {
		a, b := fmt.Sprint(ours), fmt.Sprint(gits)
		if a == b {
			return
		}
		if differ++; differ <= 10 {
			fmt.Printf("%s differs:\n  ours %.300s\n  git  %.300s\n", name, a, b)
		}
	}
	report("number of commits", len(got.Commits), len(said))
	sum := map[string]int{}
	months := map[string]int{}
	hours := map[string]int{}
	authors := map[string]int{}
	for i, c := range said[:min(len(said), len(got.Commits))] {
		report("commit "+c.hash, formatAnswerCommit(got.Commits[i]), c.fields)
		sum["commits"]++
		when := time.Unix(c.committed, 0).UTC()
		months[when.Format("2006-01-01")[:8]+"01"]++
		local := time.Unix(c.authored-c.west, 0).UTC()
		hours[fmt.Sprintf("%d %02d", (int(local.Weekday())+6)%7, local.Hour())]++
		authors[c.person]++
		if c.parents > 1 {
			sum["merges"]++
			continue
		}
		sum["insertions"] += c.insertions
		sum["deletions"] += c.deletions
	}
	var r struct {
		Commits, Merges, Insertions, Deletions int
		Authors                                []struct {
			Name, Email string
			Commits     int
		}
		CoAuthors []struct {
			Name, Email string
			Commits     int
		} `json:"co_authors"`
		Timeline struct {
			Points []struct {
				Start   string
				Commits int
			}
		}
		Activity struct{ Hours [][]int }
	}
	if err := s.decodeJSON(
		ctx,
		"/git/report",
		url.Values{"skip": {"false"}, "branch": {tip}},
		&r,
	); err != nil {
		return err
	}
	report("sums", map[string]int{
		"commits":    r.Commits,
		"merges":     r.Merges,
		"insertions": r.Insertions,
		"deletions":  r.Deletions,
	}, sum)
	people := map[string]int{}
	points := map[string]int{}
	activity := map[string]int{}
	for _, a := range r.Authors {
		people[a.Email+a.Name] += a.Commits
	}
	for _, a := range r.CoAuthors { // whom git's own list of authors does not have
		if people[a.Email+a.Name] -= a.Commits; people[a.Email+a.Name] == 0 {
			delete(people, a.Email+a.Name)
		}
	}
	byMail := map[string]int{}
	for key, n := range people {
		mail := key
		for _, a := range r.Authors {
			if a.Email+a.Name == key && a.Email != "" {
				mail = a.Email
			}
		}
		byMail[mail] += n
	}
	for _, p := range r.Timeline.Points {
		points[p.Start] = p.Commits
	}
	for d, list := range r.Activity.Hours {
		for h, n := range list {
			if n > 0 {
				activity[fmt.Sprintf("%d %02d", d, h)] = n
			}
		}
	}
	report("authors", sortedPairs(byMail), sortedPairs(authors))
	report("timeline", sortedPairs(points), sortedPairs(months))
	report("activity", sortedPairs(activity), sortedPairs(hours))
	fmt.Printf(
		"%d commits, %d people, %d months: %d differences\n",
		len(said),
		len(authors),
		len(months),
		differ,
	)
	if differ > 0 {
		return fmt.Errorf("%d numbers differ from git's", differ)
	}
	return nil
}

func sortedPairs(m map[string]int) (all []string) {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		all = append(all, fmt.Sprint(k, "=", m[k]))
	}
	return all
}

// formatAnswerCommit lays one commit of the answer out as plain does with git's.
func formatAnswerCommit(c map[string]any) []string {
	number := func(v any) string {
		f, _ := v.(float64)
		return strconv.FormatInt(int64(f), 10)
	}
	var all []string
	for _, name := range []string{"hash", "author", "author_email", "committer", "committer_email"} {
		all = append(all, fmt.Sprint(c[name]))
	}
	for _, name := range []string{"authored_date", "author_tz_offset", "committed_date", "committer_tz_offset"} {
		all = append(all, number(c[name]))
	}
	lines, _ := c["lines"].(map[string]any)
	for _, name := range []string{"insertions", "deletions", "files"} {
		all = append(all, number(lines[name]))
	}
	return append(all, strings.TrimRight(fmt.Sprint(c["message"]), "\n"))
}

// plain is one commit as git prints it.
type plain struct {
	hash, person                          string
	fields                                []string
	authored, committed, west             int64
	parents, insertions, deletions, files int
}

// readGitCommits asks git for all commits: once for their fields, once for their counts.
func (m *measure) readGitCommits(ctx context.Context, tip string) ([]*plain, error) {
	out, err := m.gitOutput(ctx, "-c", "mailmap.blob="+tip+":.mailmap", "log", "-z", "--encoding=UTF-8", "--no-mailmap",
		"--date=format:%z",
		"--format=%H%x01%an%x01%ae%x01%cn%x01%ce%x01%at%x01%ad%x01%ct%x01%cd%x01%P%x01%aE%x01%B", tip)
	if err != nil {
		return nil, err
	}
	var all []*plain
	byHash := map[string]*plain{}
	for record := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		f := strings.SplitN(strings.ToValidUTF8(record, "\uFFFD"), "\x01", 12)
		if len(f) < 12 {
			return nil, fmt.Errorf("git printed %.100q", record)
		}
		c := &plain{
			hash:    f[0],
			parents: len(strings.Fields(f[9])),
			person:  strings.ToLower(f[10]),
		}
		west := parseZoneOffset(f[6])
		c.authored, c.committed, c.west = parseCount(f[5]), parseCount(f[7]), west
		c.fields = []string{f[0], f[1], strings.ToLower(f[2]), f[3], strings.ToLower(f[4]),
			strconv.FormatInt(c.authored, 10), strconv.FormatInt(west, 10), strconv.FormatInt(c.committed,
				10), strconv.FormatInt(parseZoneOffset(f[8]), 10),
			"", "", "", strings.TrimRight(f[11], "\n")}
		all, byHash[c.hash] = append(all, c), c
	}
	if out, err = m.gitOutput(ctx, "log", "--no-renames", "--diff-merges=first-parent", "--numstat", "--format=%x01%H",
		tip); err != nil {
		return nil, err
	}
	var c *plain
	for line := range strings.Lines(out) {
		if hash, ok := strings.CutPrefix(line, "\x01"); ok {
			c = byHash[strings.TrimSpace(hash)]
		} else if cols := strings.SplitN(line, "\t", 3); len(cols) == 3 {
			c.files++
			c.insertions += int(parseCount(cols[0]))
			c.deletions += int(parseCount(cols[1]))
		}
	}
	for _, c := range all {
		c.fields[9], c.fields[10], c.fields[11] = strconv.Itoa(c.insertions), strconv.Itoa(c.deletions), strconv.Itoa(c.files)
	}
	return all, nil
}

func parseCount(s string) int64 {
	n, _ := strconv.ParseInt(s, 10, 64) // "-" of a binary file, or nothing: 0
	return n
}

func parseZoneOffset(s string) int64 {
	n := parseCount(s)
	return -(n/100*3600 + n%100*60)
}

func (m *measure) gitOutput(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"--git-dir=" + m.repo}, args...)...)
	cmd.Env = append(
		os.Environ(),
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL="+os.DevNull,
		"LC_ALL=C",
	)
	out, err := cmd.Output()
	return string(out), err
}

// decodeJSON asks the server and decodes the answer.
func (s *server) decodeJSON(ctx context.Context, path string, query url.Values, into any) error {
	query.Set("project", s.project)
	text, _, err := rig.Ask(
		ctx,
		http.DefaultClient,
		http.MethodGet,
		s.root+path+"?"+query.Encode(),
		"",
		"",
	)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}
