// Package aaatest helps tests of what stands behind access control: the request
// targets that fooled path filters of others. Access control's own tests are in
// package aaa.
package aaatest
