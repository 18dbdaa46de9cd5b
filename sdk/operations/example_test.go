package operations_test

import (
	"context"
	"encoding/json"
	"fmt"

	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/operations"
)

// A plugin returns a Mux in sdk.Plugin.Operations. Its functions get the members of the RPC's input, checked
// against the module, and return those of its output.
func Example() {
	type input struct {
		Name string `json:"name"`
	}
	type output struct {
		Text string `json:"text"`
	}
	mux := operations.Mux{"greeter:greet": operations.Func(func(_ context.Context, in input) (output, error) {
		if in.Name == "nobody" {
			return output{}, fault.At(fault.NotFound, "/greeter:input/name", "there is no user nobody")
		}
		return output{Text: "hello " + in.Name}, nil
	})}

	for _, in := range []string{`{"name":"ann"}`, `{"name":"nobody"}`} {
		out, err := mux.Invoke(context.Background(), &operations.Request{Module: "greeter", RPC: "greet", Input: json.RawMessage(in)})
		fmt.Println(out, err)
	}
	// Output:
	// {hello ann} <nil>
	// {} /greeter:input/name: there is no user nobody
}

// The handler of an action is registered under the path of its node, and gets the path of the instance.
func ExampleRequest_Keys() {
	mux := operations.Mux{"/rack:racks/rack/reset": operations.HandlerFunc(func(_ context.Context, r *operations.Request) (any, error) {
		keys, err := r.Keys()
		return "reset of " + keys[0], err
	})}
	out, err := mux.Invoke(context.Background(), &operations.Request{Module: "rack", RPC: "reset", Path: "/rack:racks/rack=B%2F2"})
	fmt.Println(out, err)
	// Output: reset of B/2 <nil>
}
