package data

import "strconv"

// Key is a domain-id as the key of its entry.
func Key(domain uint16) string { return strconv.Itoa(int(domain)) }
