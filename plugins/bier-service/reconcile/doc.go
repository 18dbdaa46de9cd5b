// Package reconcile brings routers to what they must hold and keeps them there: a
// worker a router, which applies, waits, and tries again. It knows no host and no
// driver; what it needs of them are the functions of Options.
package reconcile
