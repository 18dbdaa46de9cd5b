package release

import (
	"cmp"
	"maps"
	"slices"

	"ctl.internal/plugins/repoinfo/people"
	"ctl.internal/plugins/repoinfo/report"
)

// Comparison is two releases side by side: the later one first.
type Comparison struct {
	Releases          [2]Side           `json:"releases"`
	People            []Share           `json:"people"` // of both
	Organizations     []Share           `json:"organizations"`
	Newcomers         []Share           `json:"newcomers"`          // of the later release: not in the history before
	Lost              []Share           `json:"lost"`               // of the earlier release only
	NewOrganizations  []Share           `json:"new_organizations"`  // of the later release only
	LostOrganizations []Share           `json:"lost_organizations"` // of the earlier release only
	Sizes             map[string]int    `json:"list_sizes"`         // lengths of the lists before they were cut
	Definitions       map[string]string `json:"definitions"`
	Failed            []report.Failed   `json:"failed"`
}

// Side is one release: what its reference has and the one before it has not. Commits are those without merges, and
// without those that the release before has under another hash.
type Side struct {
	Ref                 string `json:"ref"`
	Before              string `json:"before,omitempty"` // empty = from the beginning
	Projects            int    `json:"projects"`
	Commits             int    `json:"commits"`
	MachineCommits      int    `json:"machine_commits"`
	Picked              int    `json:"picked_commits"` // left out: the release before has the same changes
	Uncompared          int    `json:"uncompared_commits"`
	People              int    `json:"people"`
	Organizations       int    `json:"organizations"`
	Newcomers           int    `json:"newcomers"`
	BusFactor           int    `json:"bus_factor"`
	ElephantFactor      int    `json:"elephant_factor"`
	UnaffiliatedCommits int    `json:"unaffiliated_commits"`
	First               int64  `json:"first_commit"` // committed, seconds since the epoch; 0 = no readable date
	Last                int64  `json:"last_commit"`
}

// Share is what a person or an organization has done for the two releases, the later one first. A commit counts for its
// author and its co-authors.
type Share struct {
	Person
	Commits [2]int `json:"commits"`
}

// definitions are those of the figures that can be understood in several ways.
var definitions = map[string]string{
	"commits": "commits without merges that the release has and the one before has not, neither under the same hash nor " +
		"as the same change (Change-Id, \"cherry picked from\", patch)",
	"newcomers": "people, without programs, who are in no commit of the history of the release before",
	"lost":      "people of the earlier release who have no part in a commit of the later one",
	"bus_factor": "the smallest number of people who are the authors of half of the commits by people. " +
		"CHAOSS, Contributor Absence Factor (formerly Bus Factor), https://chaoss.community/kb/metric-bus-factor/",
	"elephant_factor": "the smallest number of organizations whose people are the authors of half of the commits by people " +
		"with an organization. CHAOSS, Elephant Factor, https://chaoss.community/kb/metric-elephant-factor/",
}

// sideCounts are what one release adds up to.
type sideCounts struct {
	Side
	people        map[string]*Share // by the key of a person; Commits[0] counts
	organizations map[string]int
	byAuthor      map[string]int // commits by people, each for its author alone
	byEmployer    map[string]int // the same by organization
	fresh         map[string]bool
}

// countSide adds the commits of one release up.
func countSide(r *report.Report, listed map[string]*report.Listed) *sideCounts {
	s := &sideCounts{
		Side: Side{
			Ref:        r.Ref1,
			Before:     r.Ref2,
			Projects:   r.Compared,
			Uncompared: r.Uncompared,
		},
		people:        map[string]*Share{},
		organizations: map[string]int{},
		byAuthor:      map[string]int{},
		byEmployer:    map[string]int{},
		fresh:         map[string]bool{},
	}
	for _, project := range slices.Sorted(maps.Keys(listed)) {
		for i := range listed[project].Commits {
			s.addCommit(&listed[project].Commits[i])
		}
	}
	if r.Contributors != nil {
		for _, t := range r.Contributors.New {
			key := cmp.Or(t.Email, t.Name)
			if s.people[key] != nil { // who has only merged is no author of the release
				s.fresh[key] = true
			}
		}
	}
	s.People, s.Organizations, s.Newcomers = len(s.people), len(s.organizations), len(s.fresh)
	s.BusFactor = countHalf(slices.Collect(maps.Values(s.byAuthor)))
	s.ElephantFactor = countHalf(slices.Collect(maps.Values(s.byEmployer)))
	return s
}

func (s *sideCounts) addCommit(c *report.Commit) {
	if c.Same != nil {
		s.Picked++
		return
	}
	s.Commits++
	if c.When != 0 && (s.First == 0 || c.When < s.First) {
		s.First = c.When
	}
	s.Last = max(s.Last, c.When)
	if author := c.Who[0]; author.Machine {
		s.MachineCommits++
	} else {
		s.byAuthor[author.Key()]++
		if author.Organization == people.Unaffiliated {
			s.UnaffiliatedCommits++
		} else {
			s.byEmployer[author.Organization]++
		}
	}
	var employers []string
	for _, a := range c.Who {
		if a.Machine {
			continue
		}
		share := s.people[a.Key()]
		if share == nil { // the newest commit comes first
			share = &Share{Person: newPerson(a)}
			s.people[a.Key()] = share
		}
		share.Commits[0]++
		if a.Organization != people.Unaffiliated && !slices.Contains(employers, a.Organization) {
			employers = append(employers, a.Organization)
			s.organizations[a.Organization]++
		}
	}
}

// countHalf is how many of the largest numbers make up half of the sum.
func countHalf(numbers []int) int {
	slices.SortFunc(numbers, func(x, y int) int { return y - x })
	total := 0
	for _, n := range numbers {
		total += n
	}
	sum := 0
	for i, n := range numbers {
		sum += n
		if 2*sum >= total {
			return i + 1
		}
	}
	return 0
}

// compareSides puts two releases side by side; each list has at most limit entries, if that is not 0.
func compareSides(later, earlier *sideCounts, failed []report.Failed, limit int) *Comparison {
	c := &Comparison{
		Releases:    [2]Side{later.Side, earlier.Side},
		Sizes:       map[string]int{},
		Definitions: definitions,
		Failed:      failed,
	}
	everybody := map[string]*Share{}
	addShares(everybody, later.people, 0)
	addShares(everybody, earlier.people, 1)
	organizations := map[string]*Share{}
	addShares(organizations, sharesOf(later.organizations), 0)
	addShares(organizations, sharesOf(earlier.organizations), 1)
	cut := func(name string, all map[string]*Share, keep func(key string, s *Share) bool) []Share {
		list := sortShares(all, keep)
		c.Sizes[name] = len(list)
		if limit > 0 {
			list = list[:min(limit, len(list))]
		}
		return list
	}
	onlyLater := func(_ string, s *Share) bool { return s.Commits[1] == 0 }
	onlyEarlier := func(_ string, s *Share) bool { return s.Commits[0] == 0 }
	c.People = cut("people", everybody, func(string, *Share) bool { return true })
	c.Organizations = cut("organizations", organizations, func(string, *Share) bool {
		return true
	})
	c.Newcomers = cut("newcomers", everybody, func(key string, _ *Share) bool {
		return later.fresh[key]
	})
	c.Lost = cut("lost", everybody, onlyEarlier)
	c.NewOrganizations = cut("new_organizations", organizations, onlyLater)
	c.LostOrganizations = cut("lost_organizations", organizations, onlyEarlier)
	return c
}

// sharesOf are the shares of organizations.
func sharesOf(commits map[string]int) map[string]*Share {
	shares := map[string]*Share{}
	for name, n := range commits {
		shares[name] = &Share{
			Person:  Person{Name: name},
			Commits: [2]int{n, 0},
		}
	}
	return shares
}

// addShares adds those of one release, which is at an index.
func addShares(to, from map[string]*Share, at int) {
	for key, s := range from {
		if to[key] == nil {
			to[key] = &Share{Person: s.Person}
		}
		to[key].Commits[at] = s.Commits[0]
	}
}

// sortShares lists those that keep lets pass, by commits of the later release, of the earlier one, then by name.
func sortShares(all map[string]*Share, keep func(key string, s *Share) bool) []Share {
	list := []Share{}
	for key, s := range all {
		if keep(key, s) {
			list = append(list, *s)
		}
	}
	slices.SortFunc(list, func(x, y Share) int {
		return cmp.Or(
			cmp.Compare(y.Commits[0], x.Commits[0]),
			cmp.Compare(y.Commits[1], x.Commits[1]),
			cmp.Compare(x.Name, y.Name),
			cmp.Compare(x.Email, y.Email),
		)
	})
	return list
}
