// Package web serves the pages for a browser: the state of the controller with its
// topology at /, the API explorer at /apidoc/ and the YANG tree at /yangui/. All of
// it is embedded and works without any other server. It stands behind access
// control like everything else; the trees themselves are package restconf's.
package web
