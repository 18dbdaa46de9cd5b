// Command bench compares the controller with peers side by side, in one run on one
// machine, and writes the table bench/RESULTS.md. Absolute figures do not travel
// between machines; the ratios do. `go run ./bench -h` lists the parts.
package main
