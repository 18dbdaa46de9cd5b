// Package channels decides what calls on channels change, and keeps the channels.
package channels
