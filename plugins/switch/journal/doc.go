// Package journal remembers changes of switches that are under way, so that one the
// plugin did not live to finish is found afterwards. It keeps records; what they mean
// on a switch, and how one is taken back, is known by who made them (packages
// mibdriver and driver).
package journal
