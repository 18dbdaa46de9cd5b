// Package models has which switches are known to work: what the tests read of recordings of real ones.
package models

import (
	_ "embed"
	"encoding/json"
	"fmt"
)

// Result is what was read of a model.
type Result struct {
	Vendor string `json:"vendor"`
	Model  string `json:"model"`
	Source string `json:"source"` // recording
	// Ports and the others are how many there were.
	Ports     int `json:"ports"`
	Neighbors int `json:"neighbors"`
	Links     int `json:"links"` // to other models of this table, reported by both ends
	VLANs     int `json:"vlans"`
	Addresses int `json:"addresses"` // of the forwarding table
	ARP       int `json:"arp"`
	STP       int `json:"stp"`      // ports in the spanning tree
	Counters  int `json:"counters"` // interfaces with counters of octets
	// Lacks are the tables that the device does not offer, or the recording does not have.
	Lacks []string `json:"lacks,omitempty"`
	// Wrong is what could not be read, and why.
	Wrong []string `json:"wrong,omitempty"`
}

//go:embed models.json
var results []byte

// All are the results, by vendor and model.
func All() ([]Result, error) {
	var all []Result
	if err := json.Unmarshal(results, &all); err != nil {
		return nil, fmt.Errorf("plugins/switch/models/models.json: %w", err)
	}
	return all, nil
}
