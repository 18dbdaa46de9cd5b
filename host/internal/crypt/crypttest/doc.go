// Package crypttest makes rings for the tests of other rooms. What they are is package
// crypt itself.
package crypttest
