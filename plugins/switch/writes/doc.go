// Package writes keeps each write on a device as a record of the datastore. The record is
// the input of the operation, its journal and its result: whoever is asked puts it there
// as queued, the process that holds the role switch-devices marks it as sent with its
// epoch before it sends anything, carries it out, and writes the result, for which the
// caller waits. What a process left is finished by the next holder: whole, undone,
// or left to the user. A holder that is asked itself writes the record at sent at once.
package writes
