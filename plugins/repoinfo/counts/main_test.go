package counts

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	// bbolt leaves one when it panics at a damaged file.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("go.etcd.io/bbolt.(*DB).freepages.func2"))
}
