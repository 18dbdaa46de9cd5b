package plugin

import (
	"fmt"
	"strings"
	"testing"
)

func TestMetricsOfAPluginAreCheckedByThemselves(t *testing.T) {
	var many strings.Builder
	for i := range scrapeSeries + 1 {
		fmt.Fprintf(&many, "a{i=\"%d\"} 1\n", i)
	}
	for name, c := range map[string]struct{ text, want string }{
		"good":             {"# TYPE a counter\na{b=\"1\"} 1\na{b=\"2\"} 2\n", ""},
		"a series twice":   {"# TYPE a counter\na 1\na 2\n", "collected before"},
		"two types":        {"# TYPE a counter\na 1\n# TYPE a gauge\na 2\n", "TYPE"},
		"no text of those": {"\x00\xff", "error"},
		"too many":         {many.String(), "series; at most"},
		"too large":        {strings.Repeat("# comment\n", scrapeBytes/10+1), "bytes; at most"},
		"the host's own":   {"# TYPE ctl_plugin_up gauge\nctl_plugin_up 1\n", "is used by the controller"},
		"not of its kind":  {"# TYPE a histogram\na_bucket{le=\"x\"} 1\n", "error"},
	} {
		_, err := parseMetrics([]byte(c.text))
		if (err != nil) != (c.want != "") || c.want != "" && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
