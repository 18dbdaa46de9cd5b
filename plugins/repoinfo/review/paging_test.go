package review

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func served(t *testing.T, answer http.HandlerFunc) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(answer)
	t.Cleanup(srv.Close)
	return srv
}

// change is one of a server's list, newest first.
type change struct {
	Number  int    `json:"_number"`
	Updated string `json:"updated"`
	More    bool   `json:"_more_changes,omitempty"`
}

// moving is a server whose list is altered before a certain question.
type moving struct {
	mu    sync.Mutex
	list  []change
	asked int
	alter func(asked int, list []change) []change
}

func (m *moving) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked++
	m.list = m.alter(m.asked, m.list)
	n, _ := strconv.Atoi(r.URL.Query().Get("n"))
	start, _ := strconv.Atoi(r.URL.Query().Get("S"))
	page := slices.Clone(m.list[min(start, len(m.list)):min(start+n, len(m.list))])
	if start+n < len(m.list) {
		page[len(page)-1].More = true
	}
	_ = json.NewEncoder(w).Encode(page)
}

func (m *moving) numbers() (all []int) {
	for _, c := range m.list {
		all = append(all, c.Number)
	}
	return all
}

// touch moves a change to the head, as a comment does.
func touch(list []change, number int) []change {
	i := slices.IndexFunc(list, func(c change) bool { return c.Number == number })
	return slices.Concat([]change{{Number: number, Updated: list[i].Updated + "+"}}, list[:i], list[i+1:])
}

func vanish(list []change, number int) []change {
	return slices.DeleteFunc(slices.Clone(list), func(c change) bool { return c.Number == number })
}

func TestAListThatMovesWhileItIsRead(t *testing.T) {
	for name, alter := range map[string]func(asked int, list []change) []change{
		"at rest": func(_ int, list []change) []change { return list },
		"one of a later page is commented on": func(asked int, list []change) []change {
			if asked == 2 {
				return touch(list, 3)
			}
			return list
		},
		"one of an earlier page is commented on": func(asked int, list []change) []change {
			if asked == 3 {
				return touch(list, 19)
			}
			return list
		},
		"one is merged": func(asked int, list []change) []change {
			if asked == 2 {
				return append([]change{{Number: 99, Updated: "z"}}, list...)
			}
			return list
		},
		"one vanishes": func(asked int, list []change) []change {
			if asked == 3 {
				return vanish(list, 20)
			}
			return list
		},
		"two vanish, at the joint of two pages": func(asked int, list []change) []change {
			if asked == 2 {
				return vanish(vanish(list, 16), 15)
			}
			return list
		},
		"more than a page is commented on": func(asked int, list []change) []change {
			if asked == 4 {
				for _, n := range []int{1, 2, 3, 4, 5, 6, 7} {
					list = touch(list, n)
				}
			}
			return list
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := &moving{alter: alter}
			for n := 20; n > 0; n-- {
				m.list = append(m.list, change{Number: n, Updated: fmt.Sprintf("%02d", n)})
			}
			c := client(t, Options{URL: served(t, m.ServeHTTP).URL, Pages: 5})
			raw, err := c.Changes(t.Context(), "x", "")
			if err != nil {
				t.Fatal(err)
			}
			var got []int
			for _, r := range raw {
				var o change
				if err := json.Unmarshal(r, &o); err != nil || o.More {
					t.Errorf("%s: %v", r, err)
				}
				got = append(got, o.Number)
			}
			if diff := cmp.Diff(m.numbers(), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A list that changes before every answer is not asked for without end.
func TestAListThatNeverRests(t *testing.T) {
	n := 1000
	m := &moving{alter: func(_ int, list []change) []change {
		for range 10 {
			n++
			list = append([]change{{Number: n, Updated: strconv.Itoa(n)}}, list...)
		}
		return list[:20]
	}}
	for range 20 {
		m.list = append(m.list, change{Number: 1, Updated: "1"})
	}
	c := client(t, Options{URL: served(t, m.ServeHTTP).URL, Pages: 5})
	if got, err := c.Changes(t.Context(), "x", ""); err != nil || len(got) == 0 || m.asked > 100 {
		t.Errorf("%d changes after %d questions, %v", len(got), m.asked, err)
	}
}

// Pages that were kept at different times are not put together.
func TestKeptPagesFitTogether(t *testing.T) {
	m := &moving{alter: func(_ int, list []change) []change { return list }}
	for n := 8; n > 0; n-- {
		m.list = append(m.list, change{Number: n, Updated: strconv.Itoa(n)})
	}
	c := client(t, Options{URL: served(t, m.ServeHTTP).URL, Pages: 5, Fresh: time.Hour})
	for range 2 {
		if got, err := c.Changes(t.Context(), "x", ""); err != nil || len(got) != 8 || m.asked != 3 {
			t.Fatalf("%d changes, %d questions, %v", len(got), m.asked, err)
		}
	}
	m.list = touch(m.list, 1)
	c.mu.Lock()
	for address, k := range c.cache { // as if the first page had been asked for earlier
		if address == c.base+"changes/?q=status%3Amerged+project%3A%22x%22+branch%3A%22master%22&o=SUBMITTABLE&n=5" {
			k.at = time.Time{}
		}
	}
	c.mu.Unlock()
	got, err := c.Changes(t.Context(), "x", "")
	if err != nil || len(got) != 8 || m.asked != 6 {
		t.Errorf("%d changes, %d questions, %v", len(got), m.asked, err)
	}
}
