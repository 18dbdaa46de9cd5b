// Package crosssitepeers opens pages of other origins in a real Chromium that keeps the controller's
// Basic credentials, and looks that they change nothing, while the controller's own pages do.
package crosssitepeers
