package restconf

import "testing"

const defaultsModule = `module df {
  yang-version 1.1; namespace "urn:df"; prefix df;
  leaf top { type uint8; default 5; }
  leaf-list tops { type uint8; default 1; default 2; }
  container c {
    leaf a { type uint8; default 5; }
    leaf set { type string; }
    container np { leaf b { type string; default "x"; } }
    container p { presence "is there"; leaf d { type string; default "y"; } }
    leaf-list ll { type string; default "u"; default "v"; ordered-by user; }
    list l { key k; leaf k { type string; } leaf e { type boolean; default true; } }
    choice ch {
      default one;
      case one { leaf o1 { type uint8; default 1; } }
      case two { leaf o2 { type uint8; default 2; } leaf o3 { type uint8; } }
    }
    leaf st { config false; type uint8; default 9; }
  }
  choice t { case x { leaf tx { type uint8; default 7; } leaf ty { type uint8; } } case z { leaf tz { type uint8; } } }
}`

// A leaf that has its default is there, in every mode of with-defaults; where nothing can have it, it is not.
func TestDefaultsAreRead(t *testing.T) {
	f := withModules(t, defaultsModule)
	for _, mode := range []string{"", "?with-defaults=report-all", "?with-defaults=trim", "?with-defaults=explicit", "?content=config"} {
		f.want(200, `{"df:top":5}`, "GET", "/rests/data/df:top"+mode, "")
		f.want(200, `{"df:tops":[1,2]}`, "GET", "/rests/data/df:tops"+mode, "")
		f.want(200, `{"df:a":5}`, "GET", "/rests/data/df:c/a"+mode, "")
		f.want(200, `{"df:b":"x"}`, "GET", "/rests/data/df:c/np/b"+mode, "")
		f.want(404, "", "GET", "/rests/data/df:c/p/d"+mode, "")
		f.want(404, "", "GET", "/rests/data/df:c/l=k/e"+mode, "")
		f.want(200, `{"df:o1":1}`, "GET", "/rests/data/df:c/o1"+mode, "")
		f.want(404, "", "GET", "/rests/data/df:c/o2"+mode, "")
		f.want(404, "", "GET", "/rests/data/df:c/set"+mode, "")
		f.want(404, "", "GET", "/rests/data/df:tx"+mode, "")
		f.want(200, `{"df:ll":["u","v"]}`, "GET", "/rests/data/df:c/ll"+mode, "")
	}
	f.want(200, `{"df:st":9}`, "GET", "/rests/data/df:c/st", "")
	f.want(404, "", "GET", "/rests/data/df:c/st?content=config", "")
	f.want(404, "", "GET", "/rests/data/df:c/a?content=nonconfig", "")
	f.want(200, "", "GET", "/restconf/config/df:c/a", "")
	f.want(201, "", "PUT", "/rests/data/df:c", `{"df:c":{"p":{},"o3":1,"l":[{"k":"k"}]}}`)
	f.want(201, "", "PUT", "/rests/data/df:ty", `{"df:ty":3}`)
	f.want(200, `{"df:d":"y"}`, "GET", "/rests/data/df:c/p/d", "")
	f.want(200, `{"df:e":true}`, "GET", "/rests/data/df:c/l=k/e", "")
	f.want(404, "", "GET", "/rests/data/df:c/o1", "")
	f.want(200, `{"df:o2":2}`, "GET", "/rests/data/df:c/o2", "")
	f.want(200, `{"df:tx":7}`, "GET", "/rests/data/df:tx", "")
	f.want(200, `<a xmlns="urn:df">5</a>`, "GET", "/rests/data/df:c/a", "", "Accept: application/yang-data+xml")
}

// The operational datastore shows the defaults in use, with their origin.
func TestOperationalShowsDefaults(t *testing.T) {
	f := withModules(t, defaultsModule)
	ds := "/rests/ds/ietf-datastores:operational/df:c"
	f.want(201, "", "PUT", "/rests/data/df:c", `{"df:c":{"set":"s"}}`)
	f.want(200, `{"df:c":{"set":"s","o1":1,"a":5,"np":{"b":"x"},"ll":["u","v"],"st":9}}`, "GET", ds+"?depth=9", "")
	f.want(200, `{"df:c":{"set":"s"}}`, "GET", ds+"?with-defaults=explicit", "")
	f.want(200, `{"df:a":5,"@df:a":{"ietf-origin:origin":"ietf-origin:default"}}`, "GET", ds+"/a?with-origin", "")
	f.want(200, `{"df:np":{"b":"x"}}`, "GET", ds+"/np", "")
	f.want(404, "", "GET", ds+"/p", "")
	f.want(200, `{"df:c":{"set":"s"}}`, "GET", "/rests/data/df:c?content=config", "")
}

// What has state below it has the ETag of its configuration: conditions on writes hold by it, and an answer with state
// is never "not modified".
func TestTheETagOfWhatHasState(t *testing.T) {
	f := withModules(t, defaultsModule)
	f.want(201, "", "PUT", "/rests/data/df:c", `{"df:c":{"set":"s"}}`)
	all := f.want(200, "", "GET", "/rests/data/df:c", "").header.Get("ETag")
	config := f.want(200, "", "GET", "/rests/data/df:c?content=config", "").header.Get("ETag")
	if all == "" || all != config {
		t.Fatalf("%q and %q", all, config)
	}
	f.want(200, "", "GET", "/rests/data/df:c", "", "If-None-Match: "+all)
	f.want(304, "", "GET", "/rests/data/df:c?content=config", "", "If-None-Match: "+all)
	f.want(204, "", "PUT", "/rests/data/df:c", `{"df:c":{"set":"t"}}`, "If-Match: "+all)
	f.want(412, "", "PUT", "/rests/data/df:c", `{"df:c":{"set":"u"}}`, "If-Match: "+all)
	if again := f.want(200, "", "GET", "/rests/data/df:c", "").header.Get("ETag"); again == all {
		t.Error("the tag stays after a change")
	}
}
