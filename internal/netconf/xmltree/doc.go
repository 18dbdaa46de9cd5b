// Package xmltree is the XML of NETCONF (RFC 6241 section 3): elements with a
// namespace, text or children, few attributes. Parse bounds depth and refuses
// document type declarations; Node.Bytes escapes every text. Mixed content,
// comments and processing instructions have no meaning in NETCONF and are dropped.
package xmltree
