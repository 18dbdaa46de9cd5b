// Package home is the home directory of a controller: making it, its lock and
// permissions, its settings (etc/ctl.yaml, environment, flags) and the settings
// files of plugins. Nothing here listens or starts anything. What the
// controller keeps at run time is package datastore's; access rules are aaa's.
package home

import (
	_ "embed"
	"time"
)

// Config is etc/ctl.yaml. Types, ranges and defaults are in ctl.schema.yaml; a test keeps
// the comments of etc/ctl.yaml equal to them.
type Config struct {
	Listeners  Listeners  `json:"listeners"`
	TLS        TLS        `json:"tls"`
	Datastore  Datastore  `json:"datastore"`
	Cluster    Cluster    `json:"cluster"`
	Limits     Limits     `json:"limits"`
	AAA        AAA        `json:"aaa"`
	Features   Features   `json:"features"`
	Log        Log        `json:"log"`
	Supervisor Supervisor `json:"supervisor"`
	Console    Console    `json:"console"`
	Tracing    Tracing    `json:"tracing"`
	Audit      Audit      `json:"audit"`
	Troubles   Troubles   `json:"troubles"`
	Notify     Notify     `json:"notify"`
}

// Troubles is the list of what is wrong.
type Troubles struct {
	KeepLost time.Duration `json:"keepLost"` // links and nodes that were lost
}

// Listeners are the addresses that are opened.
type Listeners struct {
	HTTP     Address `json:"http"`
	HTTPS    Address `json:"https"`
	SSH      Address `json:"ssh"`
	RESTCONF Address `json:"restconf"` // what lies below /restconf and /.well-known, and nothing else
	Admin    Address `json:"admin"`

	Names   []string `json:"names"`   // by which browsers may ask for this controller
	Proxies []string `json:"proxies"` // addresses of reverse proxies that end TLS
}

// TLS is the certificate of the https listener; both empty = the controller keystore.
type TLS struct {
	Certificate string `json:"certificate"`
	Key         string `json:"key"`
	MinVersion  string `json:"minVersion"` // 1.2 or 1.3

	ClientCertificates string        `json:"clientCertificates"` // off, optional or required
	Redirect           bool          `json:"redirect"`           // the http listener sends everybody to https
	HSTS               time.Duration `json:"hsts"`               // 0 = the header is not sent
}

// Datastore chooses the engine.
type Datastore struct {
	Engine  string `json:"engine"` // one of package datastore/open
	History int    `json:"history"`

	RestartAfter time.Duration `json:"restartAfter"` // of a disk that failed; 0 = never
	Etcd         Etcd          `json:"etcd"`
	Shared       bool          `json:"-"` // other controllers may use it, too: the schema names the engines of that kind
}

// Etcd is the cluster, used with the engine of that name.
type Etcd struct {
	Endpoints   []string      `json:"endpoints"`
	Prefix      string        `json:"prefix"`
	Timeout     time.Duration `json:"timeout"`
	Username    string        `json:"username"`
	Password    string        `json:"password"`
	CA          string        `json:"ca"`
	Certificate string        `json:"certificate"`
	Key         string        `json:"key"`
}

// Cluster is the way between nodes, with engine etcd.
type Cluster struct {
	Listen    Address `json:"listen"`    // for the other nodes
	Advertise string  `json:"advertise"` // HOST or HOST:PORT that they use; empty = that of listen
}

// Limits bound HTTP requests.
type Limits struct {
	Body           Size          `json:"body"`
	Header         Size          `json:"header"`
	HeaderTimeout  time.Duration `json:"headerTimeout"`
	BodyTimeout    time.Duration `json:"bodyTimeout"`
	RequestTimeout time.Duration `json:"requestTimeout"`
	IdleTimeout    time.Duration `json:"idleTimeout"`
	Connections    int           `json:"connections"`
	InFlight       int           `json:"inFlight"`
}

// AAA are the settings of access control that are not rules.
type AAA struct {
	TokenLifetime    time.Duration `json:"tokenLifetime"`
	TokensPerUser    int           `json:"tokensPerUser"`
	LoginCache       time.Duration `json:"loginCache"` // of outside realms; 0 = none
	RoleDeniedStatus int           `json:"roleDeniedStatus"`
	RealmKinds       []string      `json:"realmKinds"` // of plugins that are not ours
	TrustedOrigins   []string      `json:"trustedOrigins"`
	PasswordMinimum  int           `json:"passwordMinimum"`
	PasswordBlocked  string        `json:"passwordBlocked"` // file, relative to the home
	PasswordMaxAge   time.Duration `json:"passwordMaxAge"`  // 0 = any
	PasswordCommon   bool          `json:"passwordCommon"`  // refuses the 10,000 most common
	PasswordHistory  int           `json:"passwordHistory"` // 0 = none
	ChangeFirst      bool          `json:"changeFirstPasswords"`
	ChangeGiven      bool          `json:"changeGivenPasswords"`
	Session          Session       `json:"session"`
	Throttle         Throttle      `json:"throttle"`
	Argon2           Argon2        `json:"argon2"`
}

// Session are the settings of the sessions of browsers.
type Session struct {
	Idle      time.Duration `json:"idle"`
	Life      time.Duration `json:"life"`
	PlainHTTP bool          `json:"plainHTTP"` // from other machines
}

// Throttle slows failed logins down.
type Throttle struct {
	After    int           `json:"after"`
	Delay    time.Duration `json:"delay"`
	MaxDelay time.Duration `json:"maxDelay"`
	Forget   time.Duration `json:"forget"`
}

// Argon2 are the parameters of new password hashes.
type Argon2 struct {
	Memory   Size `json:"memory"`
	Time     int  `json:"time"`
	Threads  int  `json:"threads"`
	Parallel int  `json:"parallel"` // 0 = half the processors, at least 1
}

// Features are those of the very first start; nil = those the catalogue marks boot.
type Features struct {
	Boot []string `json:"boot"`
}

// Log is the standard log.
type Log struct {
	Level   string            `json:"level"`
	Levels  map[string]string `json:"levels"`
	MaxSize Size              `json:"maxSize"`
	Keep    int               `json:"keep"`
	Buffer  int               `json:"buffer"`
}

// Supervisor looks after the plugin processes.
type Supervisor struct {
	StartTimeout time.Duration `json:"startTimeout"`
	CallTimeout  time.Duration `json:"callTimeout"`
	Backoff      time.Duration `json:"backoff"`
	MaxBackoff   time.Duration `json:"maxBackoff"`
	InFlight     int           `json:"inFlight"`
	Isolation    string        `json:"isolation"`
	Memory       Size          `json:"memory"`    // of one plugin
	Disk         Size          `json:"disk"`      // of the files of one plugin
	Processes    int           `json:"processes"` // and threads
	CPUWeight    int           `json:"cpuWeight"`
	StopGrace    time.Duration `json:"stopGrace"`
}

// Console is the shell.
type Console struct {
	IdleTimeout time.Duration `json:"idleTimeout"` // 0 = none
	History     int           `json:"history"`
	Directories []string      `json:"directories"` // besides import/ and export/
}

// Tracing sends spans to a collector.
type Tracing struct {
	Endpoint string `json:"endpoint"` // OTLP over HTTP; empty = nothing is sent
}

// Audit is the record of changes and refusals.
type Audit struct {
	Syslog string `json:"syslog"` // a second destination; empty = none
	// Of a syslog server over TLS: files of certificates, PEM.
	SyslogAuthorities string `json:"syslogAuthorities"`
	SyslogCertificate string `json:"syslogCertificate"`
	SyslogKey         string `json:"syslogKey"`
	// Required is what is refused while the audit cannot be written: none, protected or all.
	Required string `json:"required"`
}

//go:embed ctl.schema.yaml
var schemaText []byte

// Default returns the settings of a controller whose etc/ctl.yaml says nothing.
func Default() Config {
	l, _ := Load("", nil, nil) // without a file there is nothing wrong
	return l.Config
}
