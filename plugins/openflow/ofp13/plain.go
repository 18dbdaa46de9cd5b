package ofp13

// EchoRequest asks whether the peer is alive; EchoReply answers with its data.
type (
	EchoRequest struct{ Data []byte }
	EchoReply   struct{ Data []byte }
)

// Messages without a body.
type (
	FeaturesRequest struct{}
	BarrierRequest  struct{} // answered when all before it was done
	BarrierReply    struct{}
)

// Type implements Message.
func (EchoRequest) Type() Type     { return TypeEchoRequest }
func (EchoReply) Type() Type       { return TypeEchoReply }
func (FeaturesRequest) Type() Type { return TypeFeaturesRequest }
func (BarrierRequest) Type() Type  { return TypeBarrierRequest }
func (BarrierReply) Type() Type    { return TypeBarrierReply }

func (e EchoRequest) append(b []byte) []byte   { return append(b, e.Data...) }
func (e EchoReply) append(b []byte) []byte     { return append(b, e.Data...) }
func (FeaturesRequest) append(b []byte) []byte { return b }
func (BarrierRequest) append(b []byte) []byte  { return b }
func (BarrierReply) append(b []byte) []byte    { return b }
