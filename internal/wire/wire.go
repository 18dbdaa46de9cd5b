// Package wire holds what both ends of a host-plugin connection must agree on.
// Authors do not need it: sdk.Serve uses it on their side.
package wire

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"slices"
	"strings"
	"time"

	plugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// Handshake is go-plugin's handshake. Its version is that of the wire only and
// hardly ever moves; what may be called is negotiated by APIVersions.
var Handshake = plugin.HandshakeConfig{
	ProtocolVersion:  1,
	MagicCookieKey:   "CTL_PLUGIN",
	MagicCookieValue: "ctl.plugin.v1",
}

// PluginName is the one name in go-plugin's plugin set.
const PluginName = "ctl"

// APIVersions are the versions of the contract this build speaks, newest first.
var APIVersions = []string{"1.0"}

// Negotiate returns the newest version of the contract that this build and a plugin
// that announces the given ones both support; "" if there is no common version.
func Negotiate(announced []string) string {
	for _, v := range APIVersions {
		if slices.Contains(announced, v) {
			return v
		}
	}
	return ""
}

// MaxMessage bounds a gRPC message in both directions, in bytes.
const MaxMessage = 64 << 20

// Set is the plugin set for go-plugin. The host passes a nil register function and
// gets the *grpc.ClientConn when it dispenses PluginName.
func Set(register func(*grpc.Server)) plugin.PluginSet {
	return plugin.PluginSet{PluginName: &grpcPlugin{register: register}}
}

// ServerOptions are the options of every gRPC server of the contract.
func ServerOptions(more ...grpc.ServerOption) []grpc.ServerOption {
	return append([]grpc.ServerOption{
		grpc.MaxRecvMsgSize(MaxMessage), grpc.MaxSendMsgSize(MaxMessage),
	}, more...)
}

// DialOptions are the options of every gRPC client of the contract.
func DialOptions(more ...grpc.DialOption) []grpc.DialOption {
	return append([]grpc.DialOption{
		grpc.WithDefaultCallOptions(
			grpc.MaxCallRecvMsgSize(MaxMessage),
			grpc.MaxCallSendMsgSize(MaxMessage),
		),
	}, more...)
}

// DialHost returns a connection to the host's services at a unix socket, with the token of a process.
func DialHost(socket, token string, more ...grpc.DialOption) (*grpc.ClientConn, error) {
	return grpc.NewClient("unix://"+socket, DialOptions(append(more, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithPerRPCCredentials(tokenCredentials(token)))...)...)
}

type tokenCredentials string

func (t tokenCredentials) GetRequestMetadata(
	context.Context,
	...string,
) (map[string]string, error) {
	return map[string]string{MetaToken: string(t)}, nil
}

// RequireTransportSecurity: the socket lies in a directory that only this user enters.
func (tokenCredentials) RequireTransportSecurity() bool {
	return false
}

// StreamWith returns a stream with another context.
func StreamWith(ctx context.Context, s grpc.ServerStream) grpc.ServerStream {
	return streamWith{s, ctx}
}

type streamWith struct {
	grpc.ServerStream
	ctx context.Context
}

// Context implements grpc.ServerStream.
func (s streamWith) Context() context.Context { return s.ctx }

type grpcPlugin struct {
	plugin.NetRPCUnsupportedPlugin
	register func(*grpc.Server)
}

func (p *grpcPlugin) GRPCServer(_ *plugin.GRPCBroker, s *grpc.Server) error {
	p.register(s)
	return nil
}

func (p *grpcPlugin) GRPCClient(
	_ context.Context,
	_ *plugin.GRPCBroker,
	c *grpc.ClientConn,
) (any, error) {
	return c, nil
}

// Environment variables that the host sets for a plugin, of any language.
const (
	EnvSocket = "CTL_HOST_SOCKET" // path of the unix socket of the host's services
	EnvParent = "CTL_HOST_PID"    // the host's process id
	EnvData   = "CTL_DATA_DIR"    // directory of the plugin's own
	EnvTraces = "CTL_HOST_TRACES" // "1": the host takes spans
)

// Metadata keys of calls to the host's socket, and of the host's calls to a plugin.
const (
	MetaMinRevision = "ctl-min-revision" // the plugin's projection must have this revision before it answers
	MetaToken       = "ctl-token"
	MetaProvider    = "ctl-provider" // relay this call to the plugin of that name
	MetaRelay       = "ctl-relay"    // trailer: "provider-gone" when it was the provider that failed
)

// Reattach is what a plugin under a debugger prints and ctld reads from the
// environment variable ReattachVariable(name).
type Reattach struct {
	Protocol        string `json:"protocol"`
	ProtocolVersion int    `json:"protocol_version"`
	Pid             int    `json:"pid"`
	Network         string `json:"network"`
	Address         string `json:"address"`
}

// ReattachVariable names the environment variable for a plugin: "switch" has
// SWITCH_REATTACH.
func ReattachVariable(plugin string) string {
	return strings.ToUpper(strings.NewReplacer("-", "_", ".", "_").Replace(plugin)) + "_REATTACH"
}

// ClientCertificate makes the host's certificate for one start of a plugin, and its
// PEM for the plugin's environment (PLUGIN_CLIENT_CERT). It is of the curve P-256:
// go-plugin's own is of P-521, which costs both sides ten times as much at each
// start and which some gRPC libraries for other languages do not know.
func ClientCertificate() (tls.Certificate, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "localhost"},
		DNSNames:              []string{"localhost"},
		NotBefore:             time.Now().Add(-time.Minute),
		NotAfter:              time.Now().AddDate(30, 0, 0),
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	return tls.Certificate{
			Certificate: [][]byte{der},
			PrivateKey:  key,
		},
		pem.EncodeToMemory(&pem.Block{
			Type:  "CERTIFICATE",
			Bytes: der,
		}), nil
}
