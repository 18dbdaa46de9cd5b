// Command switch measures the switch plugin's discovery and forwarding-table reads
// against bare gosnmp and against snmpbulkwalk, on the same simulated agents, and
// prints a table. README.md says how to run it.
package main
