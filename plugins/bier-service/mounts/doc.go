// Package mounts knows how routers are reached. Passwords and keys are sealed
// where they are kept.
package mounts
