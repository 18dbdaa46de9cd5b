// Package tree keeps YANG instance trees in the datastore, one document for each
// list entry with keys and for each top-level node, so that changing one of
// 10,000 entries rewrites one. Lists without keys stay inside the document of
// their parent.
//
// It knows schemas, documents and edits but no HTTP: that is package restconf.
package tree
