// Package tables holds the controller's own command tables, one scope a file:
// feature, plugin, log, config, system. Each states the small interface it needs.
// The shell's own commands (help, history …) are in package engine.
package tables
