// Package reqpath reads the path of a request once, into decoded segments that
// the access rules, the router and the RESTCONF parser all share, so that no
// two of them can see different resources behind one request.
//
// What cannot be read in one way only is refused: dot segments, empty segments,
// double encoding, control characters, backslashes and path parameters. One
// trailing slash is ignored. Matching rules against a path is package rules.
package reqpath
