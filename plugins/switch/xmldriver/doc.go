// Package xmldriver is the driver of what the vendor-specific configuration describes
// for a model: SETs in the described order (sent by package mibdriver), or lines at the
// switch's command line. How the file reads is package vendorxml.
package xmldriver
