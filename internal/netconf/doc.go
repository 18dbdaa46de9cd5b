// Package netconf is a NETCONF client (RFC 6241) over SSH (RFC 6242) that bears
// broken servers: every call has a deadline, every message a size cap, replies go to
// their caller by message-id, and success is only what the server said in full.
//
// Messages and the session are those of Juniper/go-netconf; the transport below
// them is this package's own, because the library's loses and mixes up data under
// fault. XML is package xmltree. Simulated servers are in lab/simrouter.
package netconf
