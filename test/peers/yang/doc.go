// Package yangpeers compares what internal/yang accepts with libyang's verdict.
package yangpeers
