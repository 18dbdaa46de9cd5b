// Package operations is the RPCs of bier-topology-api and bier-topology-view, one
// file each. What they decide is package model's.
package operations
