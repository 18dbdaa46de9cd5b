// Package operations is the RPCs of bier-channel-api, one
// file each. What they decide is package channels'.
package operations
