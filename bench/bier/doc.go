// Command bier measures deployment of BIER channels by a whole controller to simulated
// NETCONF routers, against bare edit-config and commit on as many sessions to the same
// routers, and the computations behind it. It prints a table. Run it in the root of the
// tree: go run ./bench/bier
package main
