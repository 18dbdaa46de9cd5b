// Command storebench compares the datastore engines with the bare libraries they stand on,
// and a store with one that has seen many writes of the same keys. It is a part of
// `go run ./bench`; Go's rule for internal packages is why it is here.
package main

import "ctl.internal/bench/rig"

func main() { rig.Main(flags().run) }
