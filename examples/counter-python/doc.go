// Package counterpython tests the example of a plugin in Python that keeps data.
package counterpython
