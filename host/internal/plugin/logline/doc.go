// Package logline makes sense of what a plugin writes to its standard error: JSON
// lines of log/slog or hclog, or plain text. It never fails: what cannot be
// understood is a message as it stands. Reading, limiting and forwarding the lines
// is the business of package process.
package logline
