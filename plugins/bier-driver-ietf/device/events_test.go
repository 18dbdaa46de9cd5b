package device

import (
	"testing"

	"google.golang.org/protobuf/proto"

	"ctl.internal/internal/netconf/xmltree"
	"ctl.internal/sdk/bierdriver"
)

// Both drafts say the same things in different words.
func TestNotificationsOfBothDrafts(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       []*bierdriver.Notification
	}{
		{"bfr-id-collision", "<bfr-id>7</bfr-id>", []*bierdriver.Notification{{Kind: bierdriver.BFRIDCollision, BfrId: 7}}},
		{"bfr-id-collision", "<bfr-id-collision><received-bfr-id>7</received-bfr-id></bfr-id-collision><bfr-id-collision><received-bfr-id>8</received-bfr-id></bfr-id-collision>",
			[]*bierdriver.Notification{{Kind: bierdriver.BFRIDCollision, BfrId: 7}, {Kind: bierdriver.BFRIDCollision, BfrId: 8}}},
		{"bfr-zero", "<ipv4-bfr-prefix>192.0.2.1/32</ipv4-bfr-prefix>", []*bierdriver.Notification{{Kind: bierdriver.BFRZero, Ipv4BfrPrefix: "192.0.2.1/32"}}},
		{"sub-domain-id-collision", "<sub-domain-id>3</sub-domain-id><mt-id>2</mt-id>", []*bierdriver.Notification{{Kind: bierdriver.SubDomainIDCollision, SubDomainId: 3, MtId: 2}}},
		{"sub-domain-id-collision", "<received-sub-domain-id>3</received-sub-domain-id><received-mt-id>2</received-mt-id>",
			[]*bierdriver.Notification{{Kind: bierdriver.SubDomainIDCollision, SubDomainId: 3, MtId: 2}}},
		{"something-else", "", nil},
	} {
		n, err := xmltree.Parse([]byte("<" + c.name + ` xmlns="` + nsBier + `">` + c.body + "</" + c.name + ">"))
		if err != nil {
			t.Fatal(err)
		}
		got := bierEvents(n)
		if len(got) != len(c.want) {
			t.Errorf("%s %s: %v", c.name, c.body, got)
			continue
		}
		for i := range got {
			if !proto.Equal(got[i], c.want[i]) {
				t.Errorf("%s %s: %v, want %v", c.name, c.body, got[i], c.want[i])
			}
		}
	}
}
