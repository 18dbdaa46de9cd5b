// Package memory is the datastore engine that keeps everything in memory, for tests.
package memory
