package caller

import pluginv1 "ctl.internal/proto/ctl/plugin/v1"

// ToProto returns the wire form of the context's caller, nil when there is none.
func ToProto(c Caller) *pluginv1.Caller {
	return &pluginv1.Caller{User: c.User, Domain: c.Domain, Roles: c.Roles, RequestId: c.RequestID, Address: c.Address}
}

// FromProto returns the caller that came over the wire; the zero Caller for nil.
func FromProto(p *pluginv1.Caller) Caller {
	return Caller{User: p.GetUser(), Domain: p.GetDomain(), Roles: p.GetRoles(), RequestID: p.GetRequestId(), Address: p.GetAddress()}
}
