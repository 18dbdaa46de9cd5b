// Package ofp13 is the wire form of the OpenFlow 1.3 messages (OpenFlow Switch
// Specification 1.3.5, section 7) that discovery needs, in both directions, and of
// no others. A Reader takes messages from a stream within limits; Decode and Append
// are the codec. What switches are told is decided in package discovery.
package ofp13
