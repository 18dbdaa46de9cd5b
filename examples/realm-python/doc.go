// Package realmpython tests the example of a realm in Python that takes tokens.
package realmpython
