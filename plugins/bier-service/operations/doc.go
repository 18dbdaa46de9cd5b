// Package operations is the RPCs of bier-service-api, one file each.
package operations
