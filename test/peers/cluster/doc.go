// Package clusterpeers runs two controllers on one etcd (build tag `peers`): what
// what one of them gets, the other knows. The engine itself is tested beside it.
package clusterpeers
