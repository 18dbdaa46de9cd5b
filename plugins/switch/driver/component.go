package driver

// Component is a part of a switch (entPhysicalTable), with the value of its sensor, if it is one.
type Component struct {
	Index       uint32
	ContainedIn uint32 // index of the component that it is in; 0: none
	Class       uint32 // entPhysicalClass
	Name        string
	Descr       string
	Hardware    string // revisions
	Firmware    string
	Software    string
	Serial      string
	Vendor      string
	Model       string
	Replaceable bool // entPhysicalIsFRU
	Sensor      *Sensor
}

// Sensor is what a sensor shows (entPhySensorTable).
type Sensor struct {
	Type   uint32 // entPhySensorType
	Status uint32 // entPhySensorOperStatus: 1 ok, 2 unavailable, 3 nonoperational
	Value  float64
}
