package identity_test

import (
	"testing"

	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/sdk/fault"
)

// Names that look the same as others are refused at creation.
func TestNewNamesAreWhatTheyLookLike(t *testing.T) {
	h := open(t, identity.Options{})
	for name, ok := range map[string]bool{
		"alice": true, "Alice": true, "Jürgen": true, "user one": true, "o'neil&co": true, "ü;%": true, "юрий": true, "משה": true,
		"admin ": false, " admin": false, "ad\u200bmin": false, "admin\u202e": false, "a  b": false, "\u00a0x": false, "ａdmin": false, "Ju\u0308rgen": false,
		"x\ufeff": false, "a\u00adb": false, "\U000e0061": false,
	} {
		err := h.CreateUser(ctx, identity.User{Name: name, Domain: "sdn", Enabled: true}, "longenough")
		if (err == nil) != ok || err != nil && fault.KindOf(err) != fault.Invalid {
			t.Errorf("user %q: %v", name, err)
		}
		err = h.CreateRole(ctx, identity.Role{Name: name, Domain: "sdn"})
		if (err == nil) != ok && name != "admin" {
			t.Errorf("role %q: %v", name, err)
		}
	}
}

// All spellings that a directory takes for one account are counted as one.
func TestSpellingsOfOneAccountFoldToOne(t *testing.T) {
	for _, spelling := range []string{"alice smith", "ALICE SMITH", " alice  smith ", "Alice\u00a0Smith", "ａlice smith", "álice smith", "al\u200bice smith", "al\u00adice smith"} {
		if got := identity.Folded(spelling); got != "alice smith" {
			t.Errorf("%q is folded to %q", spelling, got)
		}
	}
	if identity.Folded("alice") == identity.Folded("alicia") {
		t.Error("two accounts are one")
	}
}
