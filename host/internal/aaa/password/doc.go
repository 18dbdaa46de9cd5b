// Package password hashes passwords with argon2id and verifies what older
// systems stored, in bounded memory: however many logins arrive at once, only
// as many hashes run as there are places, and who waits does so in turn.
//
// Who has which hash is the business of package identity.
package password
