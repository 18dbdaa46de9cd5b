// Package framing is how NETCONF messages follow each other on a stream (RFC 6242
// section 4): the mark ]]>]]> behind each, or chunks with their size in front. What
// it reads it bounds, and it says at once when a peer uses the other kind.
package framing
