// Package operations is the RPCs of bier-channel-api and bier-channel-view, one
// file each. What they decide is package channels'.
package operations
