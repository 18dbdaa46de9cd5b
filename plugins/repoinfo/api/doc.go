// Package api answers the HTTP requests: one file a path. It reads parameters,
// asks the packages history, meta and review, and writes JSON, newline-delimited
// JSON or problem documents (RFC 9457).
package api
