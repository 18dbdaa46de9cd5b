// Package inventory holds the switch list in memory and follows its file. How the
// file reads is package csvlist; what the switches say is package survey.
package inventory
