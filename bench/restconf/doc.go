// Command restconf measures a running controller against encoding/json on the same data, and event
// streams with many readers:
//
//	go run ./bench/restconf -url http://127.0.0.1:8181 -user admin:admin
//
// It writes below /rests/data/network-topology:network-topology/topology=bench and removes that again.
package main
