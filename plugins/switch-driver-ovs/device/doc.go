// Package device is the driver: the operations of sdk/switchdriver on one Open vSwitch
// host after the other.
package device
