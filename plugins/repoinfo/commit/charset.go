package commit

import (
	"regexp"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

// convertToUTF8 makes UTF-8 of texts whose header names another charset. When that fails they stay as they are, as git
// leaves them.
func (c *Commit) convertToUTF8(name string, texts ...*[]byte) {
	if isUTF8(name) {
		return
	}
	enc := findCharset(name)
	if enc == nil {
		c.markMalformed("encoding")
		return
	}
	decoded := make([][]byte, len(texts))
	for i, text := range texts {
		var err error
		if decoded[i], err = enc.NewDecoder().Bytes(*text); err != nil {
			c.markMalformed("encoding")
			return
		}
	}
	for i, text := range texts {
		*text = decoded[i]
	}
}

func isUTF8(name string) bool {
	switch strings.ToLower(name) {
	case "utf-8", "utf8", "utf_8", "cp65001":
		return true
	}
	return false
}

// findCharset is the charset of a name that git or iconv(1) takes; nil if there is none, or if it is one in which
// the names and dates of a commit object, which are ASCII, cannot be read.
func findCharset(name string) encoding.Encoding {
	name = strings.TrimSpace(name)
	for _, n := range []string{name, ianaName(name)} {
		enc, err := ianaindex.IANA.Encoding(n)
		if err == nil && enc != nil {
			return asciiBased(enc)
		}
	}
	enc, err := htmlindex.Get(name)
	if err != nil {
		return nil
	}
	return asciiBased(enc)
}

func asciiBased(enc encoding.Encoding) encoding.Encoding {
	wide := []encoding.Encoding{
		encoding.Replacement,
		unicode.UTF16(unicode.BigEndian, unicode.UseBOM),
		unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM),
		unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM),
	}
	for _, w := range append(wide, utf32.All...) {
		if enc == w {
			return nil
		}
	}
	return enc
}

var (
	latinName    = regexp.MustCompile(`^(?:ISO)?[-_ ]?8859[-_ ]?([0-9]{1,2})$`)
	codepageName = regexp.MustCompile(`^(?:CP|IBM|MS|WIN|WINDOWS)[-_ ]?([0-9]{3,5})$`)
)

// latinParts are the parts of ISO 8859 that have a name of their own in iconv.
var latinParts = map[string]string{
	"LATIN9":   "15",
	"LATIN-9":  "15",
	"LATIN1":   "1",
	"LATIN-1":  "1",
	"LATIN2":   "2",
	"LATIN-2":  "2",
	"LATIN5":   "9",
	"LATIN-5":  "9",
	"LATIN10":  "16",
	"LATIN-10": "16",
}

// otherNames are further names of iconv, by the name that IANA has.
var otherNames = map[string]string{
	"SHIFT-JIS":  "Shift_JIS",
	"SJIS":       "Shift_JIS",
	"MS-KANJI":   "Shift_JIS",
	"EUCJP":      "EUC-JP",
	"EUC_JP":     "EUC-JP",
	"UJIS":       "EUC-JP",
	"EUCKR":      "EUC-KR",
	"EUC_KR":     "EUC-KR",
	"UHC":        "EUC-KR",
	"EUC-CN":     "GBK",
	"EUCCN":      "GBK",
	"GB_2312":    "GBK",
	"BIG-5":      "Big5",
	"BIG5-HKSCS": "Big5",
	"KOI8":       "KOI8-R",
	"KOI8R":      "KOI8-R",
	"KOI8U":      "KOI8-U",
	"KOI8_R":     "KOI8-R",
	"KOI8_U":     "KOI8-U",
	"ISO2022JP":  "ISO-2022-JP",
	"ASCII":      "US-ASCII",
	"646":        "US-ASCII",
	"MAC":        "macintosh",
}

// codepages are those of IBM and Microsoft that are known to IANA by another name than IBM and their number.
var codepages = map[string]string{
	"874":   "windows-874",
	"932":   "Shift_JIS",
	"943":   "Shift_JIS",
	"936":   "GBK",
	"949":   "EUC-KR",
	"950":   "Big5",
	"954":   "EUC-JP",
	"28591": "ISO-8859-1",
	"28605": "ISO-8859-15",
	"20866": "KOI8-R",
	"21866": "KOI8-U",
	"54936": "GB18030",
	"10000": "macintosh",
}

// ianaName is the name that IANA has for a charset.
func ianaName(name string) string {
	upper := strings.ToUpper(name)
	if part := latinParts[upper]; part != "" {
		return "ISO-8859-" + part
	}
	if m := latinName.FindStringSubmatch(upper); m != nil {
		return "ISO-8859-" + m[1]
	}
	if other := otherNames[upper]; other != "" {
		return other
	}
	m := codepageName.FindStringSubmatch(upper)
	switch {
	case m == nil:
		return name
	case codepages[m[1]] != "":
		return codepages[m[1]]
	case strings.HasPrefix(m[1], "125"):
		return "windows-" + m[1]
	}
	return "IBM" + m[1]
}
