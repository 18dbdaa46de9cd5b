// Package truthpeers proves with real controllers on a real etcd (build tag `peers`) that
// the datastore is the only truth: registers and sets of channels and users stay linearizable
// over three nodes while controllers, plugins and members of etcd are killed and frozen.
package truthpeers
