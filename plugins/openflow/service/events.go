package service

// The event stream, its notification, and how many changes may wait.
const (
	stream        = "openflow-topology"
	notification  = "openflow-topology:topology-changed"
	waitingEvents = 1024
)
