// Package history keeps the lines that users typed, one file a user. What must not
// be kept (engine's Session.Sensitive) is left out by the one who adds.
package history
