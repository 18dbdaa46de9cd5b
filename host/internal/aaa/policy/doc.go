// Package policy holds the access policies that are data (aaa:http-authorization):
// compiled into an index whose answer costs the same for ten policies and for ten
// thousand, and replaced as a whole with every change.
//
// The tree they are stored in is RESTCONF's; the rules of sec.ini are package
// rules.
package policy
