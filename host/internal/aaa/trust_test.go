package aaa_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"ctl.internal/host/internal/aaa"
	"ctl.internal/host/internal/aaa/throttle"
	"ctl.internal/host/internal/datastore/storetest"
)

// Guesses from elsewhere do not lock a user out of an address where it logged in before, nor after a
// restart; whoever guesses is refused, however the name is written.
func TestGuessesDoNotLockOutWhereTheUserWasBefore(t *testing.T) {
	store := storetest.New(storetest.Options{})
	t.Cleanup(func() { store.Close() })
	now := time.Unix(1e9, 0)
	options := func(o *aaa.Options) {
		o.Store, o.Now = store, func() time.Time { return now }
		o.Throttle = throttle.Settings{UserFree: 5, FirstDelay: time.Nanosecond, MaxDelay: 64 * time.Nanosecond}
	}
	ask := func(l *lab, from, user, password string) int {
		r := httptest.NewRequest("GET", modules, nil)
		r.RemoteAddr = from + ":1"
		r.SetBasicAuth(user, password)
		w := httptest.NewRecorder()
		l.Filter(http.HandlerFunc(whoAmI)).ServeHTTP(w, r)
		return w.Code
	}
	first := open(t, defaultINI, options)
	if got := ask(first, "192.0.2.1", "admin", "admin"); got != 200 {
		t.Fatal(got)
	}
	now = now.Add(20 * 24 * time.Hour)
	again := open(t, defaultINI, options) // a restart
	spellings := []string{"admin", "ADMIN", "Admin ", " admin", "admin@sdn", "admin@SDN", "ａdmin"}
	refused := 0
	for i := range 40 {
		if got := ask(again, "198.51.100.7", spellings[i%len(spellings)], "guess"); got == 429 {
			refused++
		}
	}
	if refused < 20 {
		t.Errorf("%d of 40 guesses with other spellings were refused unseen", refused)
	}
	if got := ask(again, "203.0.113.9", "admin", "admin"); got != 429 {
		t.Errorf("at an address where admin never was: %d; then guessing from ever new addresses would be free", got)
	}
	if got := ask(again, "192.0.2.1", "admin", "admin"); got != 200 {
		t.Errorf("at the address where admin was before: %d", got)
	}
	now = now.Add(31 * 24 * time.Hour)
	for range 40 {
		ask(again, "198.51.100.7", "user", "guess")
	}
	if got := ask(open(t, defaultINI, options), "192.0.2.1", "admin", "admin"); got != 200 {
		t.Errorf("after a month: %d", got)
	}
}
