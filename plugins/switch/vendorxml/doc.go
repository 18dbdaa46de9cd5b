// Package vendorxml reads the vendor-specific configuration: how functions are done on
// models that need their own way, by SNMP or at a command line. It does no input or
// output; package xmldriver does what is described.
package vendorxml
