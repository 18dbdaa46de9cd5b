// Command switchdriver-go is a plugin of the controller.
package main

import "ctl.internal/sdk"

func main() { sdk.Serve(options()) }
