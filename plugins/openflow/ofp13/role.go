package ofp13

import "encoding/binary"

// The roles (7.3.9). RoleNoChange asks for the present one.
const (
	RoleNoChange uint32 = iota
	RoleEqual
	RoleMaster
	RoleSlave
)

// Role is the body of both messages.
type Role struct {
	Role       uint32
	Generation uint64 // of the newest election of a master
}

// RoleRequest asks for a role; RoleReply has it.
type (
	RoleRequest Role
	RoleReply   Role
)

// Type implements Message.
func (RoleRequest) Type() Type { return TypeRoleRequest }

// Type implements Message.
func (RoleReply) Type() Type { return TypeRoleReply }

func (r RoleRequest) append(b []byte) []byte { return Role(r).append(b) }
func (r RoleReply) append(b []byte) []byte   { return Role(r).append(b) }

func (r Role) append(b []byte) []byte {
	b = pad(binary.BigEndian.AppendUint32(b, r.Role), 4)
	return binary.BigEndian.AppendUint64(b, r.Generation)
}

func decodeRole(r *cursor) Role {
	v := Role{Role: r.u32()}
	r.skip(4)
	v.Generation = r.u64()
	return v
}
