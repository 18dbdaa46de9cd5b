// Package template is the decision core of the driver: line templates with typed
// placeholders that are written and read by the same text, and the comparison of a
// router's sections with those wanted. It does no I/O.
//
// A value reaches a line only if its type allows every character of it.
package template
