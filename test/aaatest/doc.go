// Package aaatest helps tests of what access control protects: the request
// targets that fooled path filters of others. Access control's own tests are in
// package aaa.
package aaatest
