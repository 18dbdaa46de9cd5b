// Package shell is the table of the aaa: commands of the encryption service.
package shell
