// Package link carries the unary calls between the host and a plugin over one
// stream of their connection (service Link of the contract). HTTP/2 charges each
// call of its own for headers and a stream; on a link a call is a few bytes more in
// a message that is sent anyway.
//
// Who calls does not see which way a call went: Conn is a connection like any
// other, and what it cannot carry over the link (streams, large requests, plugins
// that do not serve it) it makes as a call of its own. The tests run one suite over
// both ways. To relay calls unseen is package frames.
package link
