// Package dialect is the decision core of the driver: it turns a configuration into
// the tree of a router's YANG modules, compares that with what the router holds, and
// makes the edit-config of the difference. It does no I/O.
//
// Draft00 and RFC8349 are the forms of ietf-bier; For chooses by what a router
// announces. What goes over sessions is package device.
package dialect
