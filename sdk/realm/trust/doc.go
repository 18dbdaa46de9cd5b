// Package trust makes the TLS settings with which a realm calls its server: the
// certificates of the controller's trust keystore, read anew for each connection so
// that an imported certificate counts at once. For a plugin that listens, see
// host.Certificates.Identity.
package trust
