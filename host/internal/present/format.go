package present

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// format is a cell as text, by the format and the unit of its column.
func (c Column) format(v any) any {
	if list, ok := v.([]any); ok {
		texts := make([]string, len(list))
		for i, one := range list {
			texts[i] = fmt.Sprint(c.format(one))
		}
		return strings.Join(texts, " ")
	}
	text := textOf(v)
	n, err := strconv.ParseFloat(text, 64)
	number := err == nil
	switch {
	case c.Format == "mac":
		return formatMAC(text)
	case c.Format == "bytes" && number:
		return scale(n, 1024, "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
	case c.Format == "rate" && number:
		return scale(n, 1000, "bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s")
	case c.Format == "percent" && number:
		return text + " %"
	case c.Format == "age" && number:
		return formatAge(n)
	case c.Unit != "" && text != "":
		return text + " " + c.Unit
	}
	return text
}

// formatMAC is a MAC address in lower case with colons; any other text as it is.
func formatMAC(text string) string {
	hex := strings.ToLower(strings.NewReplacer(":", "", "-", "", ".", "").Replace(text))
	if len(hex) != 12 || strings.Trim(hex, "0123456789abcdef") != "" {
		return text
	}
	var parts []string
	for pair := range slices.Chunk([]byte(hex), 2) {
		parts = append(parts, string(pair))
	}
	return strings.Join(parts, ":")
}

func scale(n, step float64, units ...string) string {
	i := 0
	for (n >= step || n <= -step) && i < len(units)-1 {
		n /= step
		i++
	}
	text := strconv.FormatFloat(n, 'f', 1, 64)
	return strings.TrimSuffix(text, ".0") + " " + units[i]
}

// formatAge is a number of seconds in its two largest units.
func formatAge(seconds float64) string {
	if seconds < 0 || seconds > float64(1<<53) {
		return strconv.FormatFloat(seconds, 'f', -1, 64) + " s"
	}
	s := int64(seconds)
	day := int64(24 * time.Hour / time.Second)
	switch {
	case s >= day:
		return fmt.Sprintf("%dd%dh", s/day, s%day/3600)
	case s >= 3600:
		return fmt.Sprintf("%dh%dm", s/3600, s%3600/60)
	case s >= 60:
		return fmt.Sprintf("%dm%ds", s/60, s%60)
	}
	return fmt.Sprintf("%ds", s)
}
