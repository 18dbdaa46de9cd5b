// Package aaatest helps tests of what access control protects: the request
// targets that fooled path filters of others. Access control's own tests are in
// package aaa.
package aaatest

// Payload is a request target that fooled a path filter.
type Payload struct {
	Name   string // the published fault, or what it does
	Target string // as it stands in the request line
	Plain  string // the path it tries to reach
}

// Payloads are the known ones. The answer to each must be the answer to its plain
// path, 400 or 404, for any rules and any kind of route.
func Payloads() []Payload {
	return []Payload{
		{"CVE-2010-3863 dot", "/./admin/x", "/admin/x"},
		{"CVE-2010-3863 slashes", "//admin/x", "/admin/x"},
		{"CVE-2010-3863 parent", "/x/../admin/x", "/admin/x"},
		{"CVE-2016-6802 before the context", "/x/../ctx/admin/x", "/ctx/admin/x"},
		{"SHIRO-682 trailing slash", "/admin/", "/admin"},
		{"CVE-2020-1957 parameter", "/xxx/..;/admin/x", "/admin/x"},
		{"CVE-2020-1957 empty parameter", "/;/admin/x", "/admin/x"},
		{"CVE-2020-11989 twice", "/admin/a%252fb", "/admin/x"},
		{"CVE-2020-11989 twice, spelled out", "/admin/%25%32%66x", "/admin/x"},
		{"CVE-2020-11989 parameter", "/;/ctx/admin/x", "/ctx/admin/x"},
		{"CVE-2020-13933 page", "/admin/%3bpage", "/admin/x"},
		{"CVE-2020-13933 bare", "/admin/%3b", "/admin/x"},
		{"CVE-2020-17510 dot", "/admin/%2e", "/admin/x"},
		{"CVE-2020-17510 parent", "/admin/%2e%2e", "/admin/x"},
		{"CVE-2020-17510 leading", "/%2e/admin/x", "/admin/x"},
		{"CVE-2020-17510 parameter", "/admin/;/x", "/admin/x"},
		{"CVE-2020-17523 blank", "/admin/%20", "/admin/x"},
		{"CVE-2020-17523 blank and slash", "/admin/%20/", "/admin/x"},
		{"CVE-2021-41303 trailing slash", "/admin/x/", "/admin/x"},
		{"CVE-2022-32532 line feed", "/admin/a%0any", "/admin/x"},
		{"CVE-2022-32532 carriage return", "/admin/a%0dny", "/admin/x"},
		{"CVE-2023-22602 parent", "/admin/..", "/admin/x"},
		{"CVE-2023-22602 slash", "/admin/x%2f", "/admin/x"},
		{"CVE-2023-34478 mixed case", "/x/%2e%2E/admin/x", "/admin/x"},
		{"CVE-2023-34478 slash", "/x/..%2fadmin/x", "/admin/x"},
		{"CVE-2023-46749 parameter", "/admin;x=1/x", "/admin/x"},
		{"NUL", "/admin%00/x", "/admin/x"},
		{"backslash", "/admin%5cx", "/admin/x"},
		{"raw backslash", "/admin\\x", "/admin/x"},
		{"overlong", "/%c0%ae/admin/x", "/admin/x"},
		{"not UTF-8", "/admin/%ff", "/admin/x"},
		{"CVE-2023-34478 slash, upper case", "/x/..%2Fadmin/x", "/admin/x"},
		{"CVE-2020-1957 encoded parameter", "/xxx/..%3b/admin/x", "/admin/x"},
		{"dot and encoded slash", "/admin/.%2fx", "/admin/x"},
		{"encoded dots and slash", "/x%2f%2e%2e%2fadmin/x", "/admin/x"},
		{"three times", "/admin/%25252fx", "/admin/x"},
		{"encoded backslash and dots", "/x%5c..%5cadmin/x", "/admin/x"},
		{"tab", "/admin%09/x", "/admin/x"},
		{"DEL", "/admin%7f/x", "/admin/x"},
		{"NUL before", "/%00/admin/x", "/admin/x"},
		{"blank before", "/%20/admin/x", "/admin/x"},
		{"bad escape", "/%zz/../admin/x", "/admin/x"},
		{"encoded letter", "/%61dmin/x", "/admin/x"},
		{"all letters encoded", "/%61%64%6d%69%6E/%78", "/admin/x"},
		{"absolute form", "http://other.example/admin/x", "/admin/x"},
		{"absolute form, parent", "http://other.example/x/../admin/x", "/admin/x"},
		{"query that looks like a path", "/admin/x?/../public", "/admin/x"},
		{"fragment", "/admin/x#/../public", "/admin/x"},
		{"policy, encoded", "/restconf/%6dodules", "/restconf/modules"},
		{"policy, slashes", "//restconf/modules", "/restconf/modules"},
		{"policy, dot", "/restconf/./modules", "/restconf/modules"},
		{"policy, parameter", "/restconf/modules;x=1", "/restconf/modules"},
		{"policy, empty segment", "/restconf//modules", "/restconf/modules"},
	}
}
