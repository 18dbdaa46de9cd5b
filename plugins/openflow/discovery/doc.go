// Package discovery decides: what switches are told, which of them are there, and
// which links the LLDP frames prove. It does no input or output and knows no time
// but what it is given: events go in by the methods of Core, actions come out by
// Take, and View is the topology. A Core is for one goroutine; package service owns
// it, package channel carries its actions out.
package discovery
