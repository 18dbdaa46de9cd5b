// Package reviewpeers drives the plugin repoinfo against a real code-review server.
package reviewpeers
