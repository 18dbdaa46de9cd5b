package switchdriver

import (
	"context"

	"google.golang.org/grpc"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

// Register serves a driver on a gRPC server; sdk.Serve does this for a plugin.
// name is the plugin's; driver returns the driver, or why it is not ready yet.
func Register(s grpc.ServiceRegistrar, name string, driver func() (Driver, error)) {
	pluginv1.RegisterSwitchDriverServer(s, &server{name: name, driver: driver})
}

// Operations lists the names of the operations a driver implements, as
// DescribeDriver announces them.
func Operations(d Driver) (out []string) {
	for _, o := range []struct {
		has   bool
		names []string
	}{
		{is[VLANReader](d), []string{"ReadVlans"}},
		{is[VLANWriter](d), []string{"WriteVlan", "DeleteVlan"}},
		{is[FDBReader](d), []string{"ReadFdb"}},
		{is[FDBWriter](d), []string{"WriteFdbEntry", "DeleteFdbEntry"}},
		{is[PortReader](d), []string{"ReadPorts"}},
		{is[NeighborReader](d), []string{"ReadNeighbors"}},
		{is[STPReader](d), []string{"ReadStp"}},
		{is[STPWriter](d), []string{"WriteStp"}},
		{is[ARPReader](d), []string{"ReadArp"}},
		{is[ARPWriter](d), []string{"WriteArpEntry", "DeleteArpEntry"}},
		{is[ACLApplier](d), []string{"ApplyAcl"}},
		{is[ACLReader](d), []string{"ReadAcl"}},
		{is[SettingsApplier](d), []string{"ApplySettings"}},
	} {
		if o.has {
			out = append(out, o.names...)
		}
	}
	return out
}

func is[T any](d Driver) bool {
	_, ok := d.(T)
	return ok
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

// serve has the driver carry an operation out, by the interface that has it.
func serve[T, Answer any](s *server, operation string, do func(T) (*Answer, error)) (*Answer, error) {
	driver, err := s.driver()
	if err != nil {
		return nil, fault.ToStatus(err)
	}
	d, ok := driver.(T)
	if !ok {
		return nil, fault.ToStatus(fault.New(fault.Unsupported, "the driver %s does not do %s", s.name, operation))
	}
	answer, err := do(d)
	return answer, fault.ToStatus(err)
}

func (s *server) ReadVlans(ctx context.Context, r *pluginv1.ReadVlansRequest) (*pluginv1.ReadVlansResponse, error) {
	return serve(s, "ReadVlans", func(d VLANReader) (*pluginv1.ReadVlansResponse, error) {
		v, err := d.ReadVLANs(ctx, r.Switch)
		return &pluginv1.ReadVlansResponse{Vlans: v}, err
	})
}

func (s *server) WriteVlan(ctx context.Context, r *pluginv1.WriteVlanRequest) (*pluginv1.WriteVlanResponse, error) {
	return serve(s, "WriteVlan", func(d VLANWriter) (*pluginv1.WriteVlanResponse, error) {
		v, err := d.WriteVLAN(ctx, r.Switch, r.Vlan, r.Create, r.SetPorts)
		return &pluginv1.WriteVlanResponse{Vlan: v}, err
	})
}

func (s *server) DeleteVlan(ctx context.Context, r *pluginv1.DeleteVlanRequest) (*pluginv1.DeleteVlanResponse, error) {
	return serve(s, "DeleteVlan", func(d VLANWriter) (*pluginv1.DeleteVlanResponse, error) {
		return &pluginv1.DeleteVlanResponse{}, d.DeleteVLAN(ctx, r.Switch, r.VlanId)
	})
}

func (s *server) ReadFdb(ctx context.Context, r *pluginv1.ReadFdbRequest) (*pluginv1.ReadFdbResponse, error) {
	return serve(s, "ReadFdb", func(d FDBReader) (*pluginv1.ReadFdbResponse, error) {
		e, err := d.ReadFDB(ctx, r.Switch, r.VlanId, r.Mac)
		return &pluginv1.ReadFdbResponse{Entries: e}, err
	})
}

func (s *server) WriteFdbEntry(ctx context.Context, r *pluginv1.WriteFdbEntryRequest) (*pluginv1.WriteFdbEntryResponse, error) {
	return serve(s, "WriteFdbEntry", func(d FDBWriter) (*pluginv1.WriteFdbEntryResponse, error) {
		return &pluginv1.WriteFdbEntryResponse{}, d.WriteFDBEntry(ctx, r.Switch, r.Entry)
	})
}

func (s *server) DeleteFdbEntry(ctx context.Context, r *pluginv1.DeleteFdbEntryRequest) (*pluginv1.DeleteFdbEntryResponse, error) {
	return serve(s, "DeleteFdbEntry", func(d FDBWriter) (*pluginv1.DeleteFdbEntryResponse, error) {
		return &pluginv1.DeleteFdbEntryResponse{}, d.DeleteFDBEntry(ctx, r.Switch, r.VlanId, r.Mac)
	})
}

func (s *server) ReadPorts(ctx context.Context, r *pluginv1.ReadPortsRequest) (*pluginv1.ReadPortsResponse, error) {
	return serve(s, "ReadPorts", func(d PortReader) (*pluginv1.ReadPortsResponse, error) {
		p, err := d.ReadPorts(ctx, r.Switch)
		return &pluginv1.ReadPortsResponse{Ports: p}, err
	})
}

func (s *server) ReadNeighbors(ctx context.Context, r *pluginv1.ReadNeighborsRequest) (*pluginv1.ReadNeighborsResponse, error) {
	return serve(s, "ReadNeighbors", func(d NeighborReader) (*pluginv1.ReadNeighborsResponse, error) {
		n, err := d.ReadNeighbors(ctx, r.Switch)
		return &pluginv1.ReadNeighborsResponse{Neighbors: n}, err
	})
}

func (s *server) ReadStp(ctx context.Context, r *pluginv1.ReadStpRequest) (*pluginv1.ReadStpResponse, error) {
	return serve(s, "ReadStp", func(d STPReader) (*pluginv1.ReadStpResponse, error) {
		p, on, err := d.ReadSTP(ctx, r.Switch, r.Port)
		return &pluginv1.ReadStpResponse{Ports: p, Enabled: on}, err
	})
}

func (s *server) WriteStp(ctx context.Context, r *pluginv1.WriteStpRequest) (*pluginv1.WriteStpResponse, error) {
	return serve(s, "WriteStp", func(d STPWriter) (*pluginv1.WriteStpResponse, error) {
		return &pluginv1.WriteStpResponse{}, d.WriteSTP(ctx, r.Switch, r.Port, r.Enable)
	})
}

func (s *server) ReadArp(ctx context.Context, r *pluginv1.ReadArpRequest) (*pluginv1.ReadArpResponse, error) {
	return serve(s, "ReadArp", func(d ARPReader) (*pluginv1.ReadArpResponse, error) {
		e, err := d.ReadARP(ctx, r.Switch, r.IpAddress)
		return &pluginv1.ReadArpResponse{Entries: e}, err
	})
}

func (s *server) WriteArpEntry(ctx context.Context, r *pluginv1.WriteArpEntryRequest) (*pluginv1.WriteArpEntryResponse, error) {
	return serve(s, "WriteArpEntry", func(d ARPWriter) (*pluginv1.WriteArpEntryResponse, error) {
		return &pluginv1.WriteArpEntryResponse{}, d.WriteARPEntry(ctx, r.Switch, r.Entry, r.PrefixLength)
	})
}

func (s *server) DeleteArpEntry(ctx context.Context, r *pluginv1.DeleteArpEntryRequest) (*pluginv1.DeleteArpEntryResponse, error) {
	return serve(s, "DeleteArpEntry", func(d ARPWriter) (*pluginv1.DeleteArpEntryResponse, error) {
		return &pluginv1.DeleteArpEntryResponse{}, d.DeleteARPEntry(ctx, r.Switch, r.IpAddress)
	})
}

func (s *server) ApplyAcl(ctx context.Context, r *pluginv1.ApplyAclRequest) (*pluginv1.ApplyAclResponse, error) {
	return serve(s, "ApplyAcl", func(d ACLApplier) (*pluginv1.ApplyAclResponse, error) {
		return &pluginv1.ApplyAclResponse{}, d.ApplyACL(ctx, r.Switch, r.Action, r.Profile, r.Rule)
	})
}

func (s *server) ReadAcl(ctx context.Context, r *pluginv1.ReadAclRequest) (*pluginv1.ReadAclResponse, error) {
	return serve(s, "ReadAcl", func(d ACLReader) (*pluginv1.ReadAclResponse, error) {
		e, err := d.ReadACL(ctx, r.Switch)
		return &pluginv1.ReadAclResponse{Entries: e}, err
	})
}

func (s *server) ApplySettings(ctx context.Context, r *pluginv1.ApplySettingsRequest) (*pluginv1.ApplySettingsResponse, error) {
	return serve(s, "ApplySettings", func(d SettingsApplier) (*pluginv1.ApplySettingsResponse, error) {
		report, err := d.ApplySettings(ctx, r)
		return &pluginv1.ApplySettingsResponse{Report: report}, err
	})
}
