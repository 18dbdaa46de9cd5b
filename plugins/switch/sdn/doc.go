// Package sdn applies the settings that SDN needs on switches: spanning tree off, and
// control of flooding and learning. What a switch cannot is told, not tried.
package sdn
