// Package settings is etc/repoinfo.yaml in Go. Form and defaults are in the
// schema of plugin.yaml, which the host applies; what a schema cannot say is
// checked here.
package settings
