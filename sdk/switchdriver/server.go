package switchdriver

import (
	"context"

	"google.golang.org/grpc"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

// Register serves a driver on a gRPC server; sdk.Serve does this for a plugin.
// name is the plugin's; driver returns the driver, or why there is none yet.
func Register(s grpc.ServiceRegistrar, name string, driver func() (Driver, error)) {
	pluginv1.RegisterSwitchDriverServer(s, &server{name: name, driver: driver})
}

// Operations lists the names of the operations a driver implements, as
// DescribeDriver announces them.
func Operations(d Driver) []string {
	var out []string
	add := func(ok bool, names ...string) {
		if ok {
			out = append(out, names...)
		}
	}
	_, ok := d.(VLANReader)
	add(ok, "ReadVlans")
	_, ok = d.(VLANWriter)
	add(ok, "WriteVlan", "DeleteVlan")
	_, ok = d.(FDBReader)
	add(ok, "ReadFdb")
	_, ok = d.(FDBWriter)
	add(ok, "WriteFdbEntry", "DeleteFdbEntry")
	_, ok = d.(PortReader)
	add(ok, "ReadPorts")
	_, ok = d.(NeighborReader)
	add(ok, "ReadNeighbors")
	_, ok = d.(STPReader)
	add(ok, "ReadStp")
	_, ok = d.(STPWriter)
	add(ok, "WriteStp")
	_, ok = d.(ARPReader)
	add(ok, "ReadArp")
	_, ok = d.(ARPWriter)
	add(ok, "WriteArpEntry", "DeleteArpEntry")
	_, ok = d.(ACLApplier)
	add(ok, "ApplyAcl")
	_, ok = d.(ACLReader)
	add(ok, "ReadAcl")
	_, ok = d.(SettingsApplier)
	add(ok, "ApplySettings")
	return out
}

type server struct {
	pluginv1.UnimplementedSwitchDriverServer
	name   string
	driver func() (Driver, error)
}

func (s *server) DescribeDriver(context.Context, *pluginv1.DescribeDriverRequest) (*pluginv1.DescribeDriverResponse, error) {
	d, err := s.driver()
	if err != nil {
		return nil, fault.ToStatus(err)
	}
	m := d.Match()
	return &pluginv1.DescribeDriverResponse{Name: s.name, Models: m.Models, SysObjectIds: m.SysObjectIDs,
		SysDescr: m.SysDescr, Operations: Operations(d)}, nil
}

// as asserts the interface an operation needs.
func as[T any](s *server, operation string) (T, error) {
	driver, err := s.driver()
	if err != nil {
		var none T
		return none, fault.ToStatus(err)
	}
	d, ok := driver.(T)
	if !ok {
		return d, fault.ToStatus(fault.New(fault.Unsupported, "the driver %s does not do %s", s.name, operation))
	}
	return d, nil
}

func (s *server) ReadVlans(ctx context.Context, r *pluginv1.ReadVlansRequest) (*pluginv1.ReadVlansResponse, error) {
	d, err := as[VLANReader](s, "ReadVlans")
	if err != nil {
		return nil, err
	}
	v, err := d.ReadVLANs(ctx, r.Switch)
	return &pluginv1.ReadVlansResponse{Vlans: v}, fault.ToStatus(err)
}

func (s *server) WriteVlan(ctx context.Context, r *pluginv1.WriteVlanRequest) (*pluginv1.WriteVlanResponse, error) {
	d, err := as[VLANWriter](s, "WriteVlan")
	if err != nil {
		return nil, err
	}
	v, err := d.WriteVLAN(ctx, r.Switch, r.Vlan, r.Create, r.SetPorts)
	return &pluginv1.WriteVlanResponse{Vlan: v}, fault.ToStatus(err)
}

func (s *server) DeleteVlan(ctx context.Context, r *pluginv1.DeleteVlanRequest) (*pluginv1.DeleteVlanResponse, error) {
	d, err := as[VLANWriter](s, "DeleteVlan")
	if err != nil {
		return nil, err
	}
	return &pluginv1.DeleteVlanResponse{}, fault.ToStatus(d.DeleteVLAN(ctx, r.Switch, r.VlanId))
}

func (s *server) ReadFdb(ctx context.Context, r *pluginv1.ReadFdbRequest) (*pluginv1.ReadFdbResponse, error) {
	d, err := as[FDBReader](s, "ReadFdb")
	if err != nil {
		return nil, err
	}
	e, err := d.ReadFDB(ctx, r.Switch, r.VlanId, r.Mac)
	return &pluginv1.ReadFdbResponse{Entries: e}, fault.ToStatus(err)
}

func (s *server) WriteFdbEntry(ctx context.Context, r *pluginv1.WriteFdbEntryRequest) (*pluginv1.WriteFdbEntryResponse, error) {
	d, err := as[FDBWriter](s, "WriteFdbEntry")
	if err != nil {
		return nil, err
	}
	return &pluginv1.WriteFdbEntryResponse{}, fault.ToStatus(d.WriteFDBEntry(ctx, r.Switch, r.Entry))
}

func (s *server) DeleteFdbEntry(ctx context.Context, r *pluginv1.DeleteFdbEntryRequest) (*pluginv1.DeleteFdbEntryResponse, error) {
	d, err := as[FDBWriter](s, "DeleteFdbEntry")
	if err != nil {
		return nil, err
	}
	return &pluginv1.DeleteFdbEntryResponse{}, fault.ToStatus(d.DeleteFDBEntry(ctx, r.Switch, r.VlanId, r.Mac))
}

func (s *server) ReadPorts(ctx context.Context, r *pluginv1.ReadPortsRequest) (*pluginv1.ReadPortsResponse, error) {
	d, err := as[PortReader](s, "ReadPorts")
	if err != nil {
		return nil, err
	}
	p, err := d.ReadPorts(ctx, r.Switch)
	return &pluginv1.ReadPortsResponse{Ports: p}, fault.ToStatus(err)
}

func (s *server) ReadNeighbors(ctx context.Context, r *pluginv1.ReadNeighborsRequest) (*pluginv1.ReadNeighborsResponse, error) {
	d, err := as[NeighborReader](s, "ReadNeighbors")
	if err != nil {
		return nil, err
	}
	n, err := d.ReadNeighbors(ctx, r.Switch)
	return &pluginv1.ReadNeighborsResponse{Neighbors: n}, fault.ToStatus(err)
}

func (s *server) ReadStp(ctx context.Context, r *pluginv1.ReadStpRequest) (*pluginv1.ReadStpResponse, error) {
	d, err := as[STPReader](s, "ReadStp")
	if err != nil {
		return nil, err
	}
	p, on, err := d.ReadSTP(ctx, r.Switch, r.Port)
	return &pluginv1.ReadStpResponse{Ports: p, Enabled: on}, fault.ToStatus(err)
}

func (s *server) WriteStp(ctx context.Context, r *pluginv1.WriteStpRequest) (*pluginv1.WriteStpResponse, error) {
	d, err := as[STPWriter](s, "WriteStp")
	if err != nil {
		return nil, err
	}
	return &pluginv1.WriteStpResponse{}, fault.ToStatus(d.WriteSTP(ctx, r.Switch, r.Port, r.Enable))
}

func (s *server) ReadArp(ctx context.Context, r *pluginv1.ReadArpRequest) (*pluginv1.ReadArpResponse, error) {
	d, err := as[ARPReader](s, "ReadArp")
	if err != nil {
		return nil, err
	}
	e, err := d.ReadARP(ctx, r.Switch, r.IpAddress)
	return &pluginv1.ReadArpResponse{Entries: e}, fault.ToStatus(err)
}

func (s *server) WriteArpEntry(ctx context.Context, r *pluginv1.WriteArpEntryRequest) (*pluginv1.WriteArpEntryResponse, error) {
	d, err := as[ARPWriter](s, "WriteArpEntry")
	if err != nil {
		return nil, err
	}
	return &pluginv1.WriteArpEntryResponse{}, fault.ToStatus(d.WriteARPEntry(ctx, r.Switch, r.Entry, r.PrefixLength))
}

func (s *server) DeleteArpEntry(ctx context.Context, r *pluginv1.DeleteArpEntryRequest) (*pluginv1.DeleteArpEntryResponse, error) {
	d, err := as[ARPWriter](s, "DeleteArpEntry")
	if err != nil {
		return nil, err
	}
	return &pluginv1.DeleteArpEntryResponse{}, fault.ToStatus(d.DeleteARPEntry(ctx, r.Switch, r.IpAddress))
}

func (s *server) ApplyAcl(ctx context.Context, r *pluginv1.ApplyAclRequest) (*pluginv1.ApplyAclResponse, error) {
	d, err := as[ACLApplier](s, "ApplyAcl")
	if err != nil {
		return nil, err
	}
	return &pluginv1.ApplyAclResponse{}, fault.ToStatus(d.ApplyACL(ctx, r.Switch, r.Action, r.Profile, r.Rule))
}

func (s *server) ReadAcl(ctx context.Context, r *pluginv1.ReadAclRequest) (*pluginv1.ReadAclResponse, error) {
	d, err := as[ACLReader](s, "ReadAcl")
	if err != nil {
		return nil, err
	}
	e, err := d.ReadACL(ctx, r.Switch)
	return &pluginv1.ReadAclResponse{Entries: e}, fault.ToStatus(err)
}

func (s *server) ApplySettings(ctx context.Context, r *pluginv1.ApplySettingsRequest) (*pluginv1.ApplySettingsResponse, error) {
	d, err := as[SettingsApplier](s, "ApplySettings")
	if err != nil {
		return nil, err
	}
	report, err := d.ApplySettings(ctx, r)
	return &pluginv1.ApplySettingsResponse{Report: report}, fault.ToStatus(err)
}
