// Command actor is a plugin for the tests of clusters. In the role `act`, which one process
// among all nodes holds, it notes an act every few milliseconds in a file, with its epoch
// and the time, instead of acting on a device. Its records show what upgrades do to them.
package main
