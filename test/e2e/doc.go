// Package e2e runs the real programs as their users do: ctld with plugins as
// processes, ctl as its console, HTTP clients, simulated switches. What a room does
// by itself is tested beside the room.
package e2e
