package commit

import (
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// The names that git and iconv take for a charset are understood, whatever their spelling.
func TestCharsets(t *testing.T) {
	for _, row := range []struct{ name, bytes, want string }{
		{"CP1251", "\xcf\xf0\xe8\xe2\xe5\xf2", "Привет"}, {"cp1251", "\xcf\xf0\xe8\xe2\xe5\xf2", "Привет"}, {"windows-1251", "\xcf\xf0\xe8\xe2\xe5\xf2", "Привет"},
		{"WIN1251", "\xcf", "П"}, {"KOI8-R", "\xf0", "П"}, {"koi8r", "\xf0", "П"}, {"CP866", "\x8f", "П"}, {"IBM866", "\x8f", "П"}, {"CP437", "\x81", "ü"}, {"cp850", "\x81", "ü"},
		{"iso8859-1", "J\xf6rg", "Jörg"}, {"ISO8859-1", "J\xf6rg", "Jörg"}, {"ISO-8859-1", "J\xf6rg", "Jörg"}, {"ISO_8859-1", "J\xf6rg", "Jörg"}, {"8859_1", "J\xf6rg", "Jörg"}, {"latin1", "J\xf6rg", "Jörg"}, {"latin-1", "J\xf6rg", "Jörg"}, {"CP1252", "\x80", "€"},
		{"ISO8859-15", "\xa4", "€"}, {"iso-8859-15", "\xa4", "€"}, {"LATIN9", "\xa4", "€"}, {"ISO8859-2", "\xb1", "ą"}, {"ISO88592", "\xb1", "ą"},
		{"SHIFT-JIS", "\x82\xa0", "あ"}, {"SJIS", "\x82\xa0", "あ"}, {"Shift_JIS", "\x82\xa0", "あ"}, {"cp932", "\x82\xa0", "あ"}, {"EUC-JP", "\xa4\xa2", "あ"}, {"eucJP", "\xa4\xa2", "あ"},
		{"GBK", "\xc4\xe3", "你"}, {"gb2312", "\xc4\xe3", "你"}, {"GB18030", "\xc4\xe3", "你"}, {"cp936", "\xc4\xe3", "你"}, {"BIG5", "\xa7A", "你"}, {"EUC-KR", "\xb0\xa1", "가"}, {"CP949", "\xb0\xa1", "가"},
		{"utf8", "Jörg", "Jörg"}, {"UTF-8", "Jörg", "Jörg"},
	} {
		c := Parse([]byte(hash), object(row.bytes+" <a@b> 5 +0100", row.bytes+" <a@b> 6 +0000", "encoding "+row.name+"\n", row.bytes))
		if string(c.Author.Name) != row.want || string(c.Committer.Name) != row.want || string(c.Message) != row.want || c.Author.When != 5 || len(c.Malformed) > 0 {
			t.Errorf("%s: %q by %q at %d, marked %v, want %q", row.name, c.Message, c.Author.Name, c.Author.When, c.Malformed, row.want)
		}
	}
}

// A header never hides who wrote a commit and when.
func TestACharsetHidesNoAuthor(t *testing.T) {
	for _, name := range []string{"UTF-16", "UTF-16LE", "utf16be", "UTF-32", "klingon", "", "x-user-defined", "replacement", "CP99999", "../../etc"} {
		c := Parse([]byte(hash), object("Ann <ann@b> 5 -0100", "Bob <bob@b> 6 +0000", "encoding "+name+"\n", "Subject"))
		if string(c.Author.Name) != "Ann" || string(c.Author.Email) != "ann@b" || c.Author.When != 5 || c.Author.West != 3600 || c.Committer.When != 6 || string(c.Message) != "Subject" {
			t.Errorf("%q: %+v %s", name, c.Author, c.Message)
		}
	}
}

// Each single-byte charset says the same as iconv(1), where that is installed.
func TestCharsetsAgreeWithIconv(t *testing.T) {
	iconv, err := exec.LookPath("iconv")
	if err != nil {
		t.Skip("SKIPPED, NOT TESTED: the peer iconv is not installed (Debian package libc-bin)")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, name := range []string{"CP1250", "CP1251", "CP1252", "CP1253", "CP1257", "CP866", "ISO8859-1", "ISO8859-2", "ISO8859-5", "ISO8859-15", "KOI8-R", "CP437", "CP850", "LATIN2", "SHIFT-JIS", "EUC-JP", "BIG5"} {
		text := "\xc5\xe4\xb3\xa4"
		cmd := exec.CommandContext(ctx, iconv, "-f", name, "-t", "UTF-8")
		cmd.Stdin = strings.NewReader(text)
		want, err := cmd.Output()
		if err != nil {
			continue // the bytes are none of this charset
		}
		c := Parse([]byte(hash), object("A <a@b> 5 +0000", "A <a@b> 5 +0000", "encoding "+name+"\n", text))
		if string(c.Message) != string(want) {
			t.Errorf("%s: %q, iconv says %q", name, c.Message, want)
		}
	}
}
