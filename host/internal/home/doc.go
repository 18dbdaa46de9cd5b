// Package home is the home directory of a controller: making it, its lock and
// permissions, its settings (etc/ctl.yaml, environment, flags) and the settings
// files of plugins. Nothing here listens or starts anything. What the
// controller keeps at run time is package datastore's; access rules are aaa's.
package home
