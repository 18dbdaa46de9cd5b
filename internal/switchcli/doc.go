// Package switchcli is a session at the command line of a switch, over telnet or SSH:
// login by a dialogue of prompts, one command after the other, paging, questions.
//
// What a command means is the caller's business; that a value cannot become a second
// command is this package's: build lines with Line, from Words. Devices that speak
// NETCONF are package netconf.
package switchcli
