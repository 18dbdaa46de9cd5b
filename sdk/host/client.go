package host

import (
	"google.golang.org/grpc"
)

// Environment variables that the host sets for a plugin, of any language.
const (
	EnvSocket = "CTL_HOST_SOCKET" // path of the unix socket of the host's services
	EnvToken  = "CTL_HOST_TOKEN"  // metadata "ctl-token" of each call
	EnvParent = "CTL_HOST_PID"    // the host's process id
	EnvData   = "CTL_DATA_DIR"    // directory of the plugin's own
)

// Metadata keys of calls to the host's socket.
const (
	MetaToken    = "ctl-token"
	MetaProvider = "ctl-provider" // relay this call to the plugin of that name
	MetaRelay    = "ctl-relay"    // trailer: "provider-gone" when it was the provider that failed
)

// Client reaches the host's services. Its fields are safe for concurrent use.
type Client struct {
	Datastore    *Datastore
	Operations   *Operations
	Events       *Events
	Secrets      *Secrets
	Certificates *Certificates
	Switchboard  *Switchboard

	conn *grpc.ClientConn
}

// NewClient returns the services on a connection that carries the token already.
func NewClient(conn *grpc.ClientConn) *Client {
	return &Client{
		Datastore:    newDatastore(conn),
		Operations:   newOperations(conn),
		Events:       newEvents(conn),
		Secrets:      newSecrets(conn),
		Certificates: newCertificates(conn),
		Switchboard:  newSwitchboard(conn),
		conn:         conn,
	}
}

// Close ends the connection.
func (c *Client) Close() error { return c.conn.Close() }
