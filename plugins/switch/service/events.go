package service

// The event stream, its notification, and how many changes may wait.
const (
	stream        = "switch-topology"
	notification  = "switch-topology:topology-changed"
	waitingEvents = 1024
)
