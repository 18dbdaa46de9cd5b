// Package operations is the RPCs of bier-topology-api, one file
// each. What they decide is package model's.
package operations
