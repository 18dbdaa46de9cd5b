// Package rules holds the static access rules of sec.ini's [urls], compiled:
// the first line whose pattern matches decides, its filters run from left to
// right and all must pass. They do not change while the controller runs.
//
// Policies that may change are package policy; who somebody is, is package
// authn. Filters reach both through Env, so that everything here is pure.
package rules
