// Package ctl carries the files that a new home gets, so that the daemon needs
// no source tree: the templates under etc/ and the catalogue of features. What
// is done with them is decided in host/internal/home.
package ctl

import "embed"

// Templates holds etc/ and features.yaml as they are in the source tree.
//
//go:embed etc features.yaml
var Templates embed.FS

// Manifests holds the manifests of the controller's plugins: what access control must know of a plugin while it is not
// installed, such as the classes of sec.ini that it serves and its paths.
//
//go:embed plugins/*/plugin.yaml
var Manifests embed.FS
