// Package accounting writes down who logged in and who changed what. Logins go
// to the logger the documents name, silent by default; changes go to the audit
// stream, which is always on. Neither ever holds a secret, and no text of a
// client can forge a line.
package accounting
