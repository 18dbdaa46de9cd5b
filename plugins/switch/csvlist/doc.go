// Package csvlist reads the switch list: a CSV file whose first line is the title
// line. It reports every bad line with its number and keeps the good ones. It does
// no input or output; package inventory holds the list and follows the file.
package csvlist
