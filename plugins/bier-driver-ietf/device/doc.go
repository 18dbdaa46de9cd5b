// Package device is the driver's edge: sessions to routers, what is sent over them
// and what comes back. Driver implements the contract bierdriver.
//
// One link serves all calls and watches of one router, one at a time. What to send is
// decided in package dialect.
package device
