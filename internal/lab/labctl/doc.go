// Package labctl is the command line of ctl-lab: it runs a package network as
// a process of its own and changes it through a control socket while it runs.
// Tests in Go use package network directly.
package labctl
