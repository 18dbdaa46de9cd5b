// Package feature is the catalogue of installable features and the set of those
// required. The state is only the requirements; every change resolves their
// closure anew (Closure, pure) and applies the difference (Manager). Running the
// plugins of features is package plugin's.
package feature
