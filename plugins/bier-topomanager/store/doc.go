// Package store keeps the model of topologies: each change is on disk before it is
// in memory, and is told to others afterwards. What a change is decides package model.
package store
