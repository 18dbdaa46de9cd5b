// Package pattern compiles Ant-style url patterns and matches them, segment by
// segment, against the decoded segments of package reqpath: ? is one character,
// * any text within a segment, ** as a whole segment any number of segments.
//
// /x/** also matches /x. A trailing slash is ignored, as reqpath ignores it in a
// request. Which pattern wins is the business of rules (static) and policy
// (dynamic).
package pattern
