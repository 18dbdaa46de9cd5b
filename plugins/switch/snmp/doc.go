// Package snmp speaks SNMP 1, 2c and 3 with many switches at once: sessions from a
// bounded pool, tables read with GETBULK as large as each switch can answer, and
// errors that say what the switch meant. What the objects mean is package mib.
package snmp
