// Package architecture holds the tests that keep the walls of the house: who may
// import whom, how large a file may grow, what may not be written anywhere.
package architecture
