// Package bier runs the BIER plugins together, over the contract and with the
// schemas of the controller, with routers in memory: what a user of the whole sees.
package bier
