// Package openapi writes the installed YANG modules as an OpenAPI 3.0 document,
// for the API explorer and for client generators. What is served, and how, is
// decided in package restconf.
package openapi
