package driver

// allOperations are the names of the contract's operations (DescribeDriver).
func allOperations() []string {
	return []string{"ReadVlans", "WriteVlan", "DeleteVlan", "ReadFdb", "WriteFdbEntry", "DeleteFdbEntry", "ReadPorts", "ReadNeighbors",
		"ReadStp", "WriteStp", "ReadArp", "WriteArpEntry", "DeleteArpEntry", "ApplyAcl", "ReadAcl", "ApplySettings"}
}
