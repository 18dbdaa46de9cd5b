//go:build peers

package certpeers

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestKilledInTheMiddle kills the controller while certificates are being set: all
// that were acknowledged are there afterwards, and the keystores open.
func TestKilledInTheMiddle(t *testing.T) {
	need(t, "openssl")
	for _, mdsal := range []string{"false", "true"} {
		t.Run("use-mdsal "+mdsal, func(t *testing.T) {
			home, dir := newHome(t, map[string]string{"use-mdsal": mdsal}), t.TempDir()
			sh(t, "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", dir+"/n.key", "-out", dir+"/n.pem", "-days", "9", "-subj", "/CN=node")
			pem, err := os.ReadFile(dir + "/n.pem")
			if err != nil {
				t.Fatal(err)
			}
			next := 0
			for range 3 {
				c := start(t, home)
				set := func(i int) (int, error) {
					return c.try("setNodeCertifcate", map[string]string{"node-alias": fmt.Sprintf("node-%d", i), "node-cert": string(pem)})
				}
				for range 5 {
					if status, err := set(next); err != nil || status/100 != 2 {
						t.Fatal(status, err)
					}
					next++
				}
				sent := make(chan struct{})
				ended := make(chan int)
				go func() {
					n := 0
					for close(sent); ; n++ {
						if status, err := set(next + n); err != nil || status/100 != 2 {
							break
						}
					}
					ended <- n
				}()
				<-sent
				c.Kill()
				next += <-ended
			}
			c := start(t, home)
			for i := range next {
				if status, cert := c.call("getNodeCertifcate", map[string]string{"node-alias": fmt.Sprintf("node-%d", i)}); status != 200 || !strings.Contains(strings.ReplaceAll(string(pem), "\n", ""), cert) {
					t.Fatalf("acknowledged node-%d of %d is lost: %d", i, next, status)
				}
			}
		})
	}
}
