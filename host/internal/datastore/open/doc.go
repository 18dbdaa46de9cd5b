// Package open opens the datastore that the settings of a home name. Rooms that
// use a store take a datastore.Store; only the server and offline tools open one.
package open
