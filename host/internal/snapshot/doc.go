// Package snapshot writes all that a controller must not lose into one file while it
// runs, and makes a home of such a file.
//
// The file is a tar archive: snapshot.json says what it is, home/ has files of the home,
// store/ the datastore (package datastore/snapshot) in parts, and SHA256SUMS, the last, the hash of each entry
// before it. What lives as long as the controllers only (leases, observed state) is not
// in it. It opens all that the home opens, so it is as secret.
package snapshot
