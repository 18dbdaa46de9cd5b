// Package ovsdb speaks to the database of one Open vSwitch host (RFC 7047, schema
// Open_vSwitch) through libovsdb, and reads its rows into the types of package bridge.
// A session is short: it serves one operation.
package ovsdb
