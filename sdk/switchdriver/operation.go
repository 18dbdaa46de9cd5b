package switchdriver

import (
	"context"
	"slices"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

// listOperations is the table of the contract. Server, client, what a driver announces, and how the switch plugin
// calls drivers, checks answers, keeps writes and reads them back, follow from its rows.
func listOperations() []operation {
	return slices.Concat(
		vlanOperations(),
		fdbOperations(),
		portOperations(),
		settingsOperations(),
		stpOperations(),
		arpOperations(),
		aclOperations(),
	)
}

// operation is a row of the table.
type operation struct {
	name    string                   // of the RPC: "ReadVlans"
	request protoreflect.MessageType // of its request
	has     func(Driver) bool
	do      func(ctx context.Context, d Driver, request proto.Message) (proto.Message, error)
	valid   func(request, answer proto.Message) error // nil: any answer can be true
	reads   string                                    // the operation that shows the change; empty: none does
	differs func(ctx context.Context, d Driver, request proto.Message) (string, error)
}

// newOperation is the row of an operation that do has a driver of the interface D carry out.
func newOperation[D any, Q, A proto.Message](do func(context.Context, D, Q) (A, error)) operation {
	var none Q
	return operation{
		name:    NameOf(none),
		request: none.ProtoReflect().Type(),
		has:     func(d Driver) bool { _, ok := d.(D); return ok },
		do: func(ctx context.Context, d Driver, request proto.Message) (proto.Message, error) {
			return do(ctx, d.(D), request.(Q))
		},
	}
}

// newReadOperation is op for what reads; valid refuses answers that cannot be true.
func newReadOperation[D any, Q, A proto.Message](
	do func(context.Context, D, Q) (A, error),
	valid func(Q, A) error,
) operation {
	o := newOperation(do)
	o.valid = func(request, answer proto.Message) error {
		return valid(request.(Q), answer.(A))
	}
	return o
}

// newWriteOperation is op for what changes; differs says how what the operation reads shows does not show the change.
func newWriteOperation[D, R any, Q, A proto.Message](do func(context.Context, D, Q) (A, error), reads string,
	differs func(context.Context, R, Q) (string, error)) operation {
	o := newOperation(do)
	o.reads = reads
	o.differs = func(ctx context.Context, d Driver, request proto.Message) (string, error) {
		reader, ok := d.(R)
		if !ok {
			return "", newUnreadError()
		}
		return differs(ctx, reader, request.(Q))
	}
	return o
}

func newUnreadError() error {
	return fault.New(fault.Unsupported, "no driver can read this back")
}

// NameOf is the name of the operation that a message is the request of.
func NameOf(request proto.Message) string {
	return strings.TrimSuffix(string(request.ProtoReflect().Descriptor().Name()), "Request")
}

// NewRequest returns an empty request of an operation; nil for one that the contract does not have.
func NewRequest(name string) proto.Message {
	if o := operationNamed(name); o.request != nil {
		return o.request.New().Interface()
	}
	return nil
}

// operationOf finds the row of a request.
func operationOf(request proto.Message) operation {
	return operationNamed(NameOf(request))
}

// operationNamed finds the row of a name; one that is not in the table has no functions.
func operationNamed(name string) operation {
	all := listOperations()
	if i := slices.IndexFunc(all, func(o operation) bool {
		return o.name == name
	}); i >= 0 {
		return all[i]
	}
	return operation{name: name}
}

// requestForSwitch is a copy of a request for a switch, nil for none.
func requestForSwitch(sw *Switch, request proto.Message) proto.Message {
	m := proto.Clone(request).ProtoReflect()
	if field := m.Descriptor().Fields().ByName("switch"); sw == nil {
		m.Clear(field)
	} else {
		m.Set(field, protoreflect.ValueOfMessage(sw.ProtoReflect()))
	}
	return m.Interface()
}

// Operations lists the names of the operations a driver implements, as
// DescribeDriver announces them. A Client implements all there are.
func Operations(d Driver) (out []string) {
	for _, o := range listOperations() {
		if o.has(d) {
			out = append(out, o.name)
		}
	}
	return out
}

// Do has a driver carry out a request at a switch, which takes the place of the one in the request. It fails with
// fault.Unsupported if the driver does not have the operation, else as the operation does.
func Do(ctx context.Context, d Driver, sw *Switch, request proto.Message) (proto.Message, error) {
	o := operationOf(request)
	if o.has == nil || !o.has(d) {
		return nil, fault.New(fault.Unsupported, "the driver does not do %s", o.name)
	}
	return o.do(ctx, d, requestForSwitch(sw, request))
}

// CheckAnswer refuses an answer that cannot be true, whatever the switch: numbers out of their range, entries twice,
// or others than were asked for.
func CheckAnswer(request, answer proto.Message) error {
	if o := operationOf(request); o.valid != nil {
		return o.valid(request, answer)
	}
	return nil
}

// Shown says, in words that follow "it shows", how a switch does not show that a request was carried out; empty if
// it does. by returns the driver that is asked by an operation that reads. What nothing reads is fault.Unsupported.
func Shown(
	ctx context.Context,
	sw *Switch,
	request proto.Message,
	by func(operation string) (Driver, error),
) (string, error) {
	o := operationOf(request)
	if o.differs == nil {
		return "", newUnreadError()
	}
	d, err := by(o.reads)
	if err != nil {
		return "", err
	}
	return o.differs(ctx, d, requestForSwitch(sw, request))
}

// Register serves a driver on a gRPC server; sdk.Serve does this for a plugin.
// name is the plugin's; driver returns the driver, or why it is not ready yet.
func Register(s grpc.ServiceRegistrar, name string, driver func() (Driver, error)) {
	describe := newOperation(func(_ context.Context, d Driver, _ *pluginv1.DescribeDriverRequest) (*pluginv1.DescribeDriverResponse, error) {
		m := d.Match()
		return &pluginv1.DescribeDriverResponse{
			Name:         name,
			Models:       m.Models,
			SysObjectIds: m.SysObjectIDs,
			SysDescr:     m.SysDescr,
			Operations:   Operations(d),
		}, nil
	})
	contract := pluginv1.SwitchDriver_ServiceDesc
	desc := grpc.ServiceDesc{
		ServiceName: contract.ServiceName,
		HandlerType: (*any)(nil),
		Metadata:    contract.Metadata,
	}
	for _, o := range append(listOperations(), describe) {
		info := &grpc.UnaryServerInfo{FullMethod: "/" + contract.ServiceName + "/" + o.name}
		serve := func(ctx context.Context, request any) (any, error) {
			d, err := driver()
			if err == nil && !o.has(d) {
				err = fault.New(fault.Unsupported, "the driver %s does not do %s", name, o.name)
			}
			if err != nil {
				return nil, fault.ToStatus(err)
			}
			answer, err := o.do(ctx, d, request.(proto.Message))
			return answer, fault.ToStatus(err)
		}
		desc.Methods = append(desc.Methods, grpc.MethodDesc{MethodName: o.name,
			Handler: func(_ any, ctx context.Context, decode func(any) error, intercept grpc.UnaryServerInterceptor) (any, error) {
				request := o.request.New().Interface()
				if err := decode(request); err != nil {
					return nil, err
				}
				if intercept == nil {
					return serve(ctx, request)
				}
				return intercept(ctx, request, info, serve)
			}})
	}
	s.RegisterService(&desc, nil)
}
