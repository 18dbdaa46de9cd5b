// Package clusterpeers runs two controllers on one etcd (build tag `peers`): what
// one of them is told, the other knows. The engine itself is tested beside it.
package clusterpeers
