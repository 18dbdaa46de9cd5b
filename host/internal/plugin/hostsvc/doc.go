// Package hostsvc serves what plugins may ask of the host: one unix socket for each
// plugin, so that who calls is known without asking, and a token, so that only the
// processes started for it get through. One service a file. What the host itself
// offers to people is in restconf, console and web; calls to another plugin are
// carried on by package relay.
package hostsvc
