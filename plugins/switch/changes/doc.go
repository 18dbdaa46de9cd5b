// Package changes remembers the last changes of the topology: what became different,
// when, and why it was noticed. What is different is found in package service.
package changes
