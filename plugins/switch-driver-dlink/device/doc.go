// Package device is the driver: it logs in, types what package command says, and
// reads back what it did.
package device
