// Package home is the home directory of a controller: making it, its lock and
// permissions, its settings (etc/ctl.yaml, environment, flags) and the settings
// files of plugins. Nothing here listens or starts anything. What the
// controller keeps at run time is package datastore's; access rules are aaa's.
package home

import "time"

// Config is etc/ctl.yaml. Defaults are in Default and, for the reader, in the
// comments of etc/ctl.yaml; a test keeps the two equal.
type Config struct {
	Listeners  Listeners  `yaml:"listeners"`
	TLS        TLS        `yaml:"tls"`
	Datastore  Datastore  `yaml:"datastore"`
	Cluster    Cluster    `yaml:"cluster"`
	Limits     Limits     `yaml:"limits"`
	AAA        AAA        `yaml:"aaa"`
	Features   Features   `yaml:"features"`
	Log        Log        `yaml:"log"`
	Supervisor Supervisor `yaml:"supervisor"`
	Console    Console    `yaml:"console"`
	Tracing    Tracing    `yaml:"tracing"`
}

// Listeners are the addresses that are opened.
type Listeners struct {
	HTTP  Address `yaml:"http"`
	HTTPS Address `yaml:"https"`
	SSH   Address `yaml:"ssh"`
	Admin Address `yaml:"admin"`
}

// TLS is the certificate of the https listener; both empty = the controller keystore.
type TLS struct {
	Certificate string `yaml:"certificate"`
	Key         string `yaml:"key"`
	MinVersion  string `yaml:"minVersion"` // 1.2 or 1.3

	ClientCertificates string        `yaml:"clientCertificates"` // off, optional or required
	Redirect           bool          `yaml:"redirect"`           // the http listener sends everybody to https
	HSTS               time.Duration `yaml:"hsts"`               // 0 = the header is not sent
}

// Datastore chooses the engine.
type Datastore struct {
	Engine  string `yaml:"engine"` // badger or etcd
	History int    `yaml:"history"`
	Etcd    Etcd   `yaml:"etcd"`
}

// Shared reports whether other controllers may use the datastore, too.
func (d Datastore) Shared() bool { return d.Engine == "etcd" }

// Etcd is the cluster, used with engine etcd.
type Etcd struct {
	Endpoints   []string      `yaml:"endpoints"`
	Prefix      string        `yaml:"prefix"`
	Timeout     time.Duration `yaml:"timeout"`
	Username    string        `yaml:"username"`
	Password    string        `yaml:"password" secret:"true"`
	CA          string        `yaml:"ca"`
	Certificate string        `yaml:"certificate"`
	Key         string        `yaml:"key"`
}

// Cluster is the way between nodes, with engine etcd.
type Cluster struct {
	Listen    Address `yaml:"listen"`    // for the other nodes
	Advertise string  `yaml:"advertise"` // HOST or HOST:PORT that they use; empty = that of listen
}

// Limits bound HTTP requests.
type Limits struct {
	Body           Size          `yaml:"body"`
	Header         Size          `yaml:"header"`
	HeaderTimeout  time.Duration `yaml:"headerTimeout"`
	BodyTimeout    time.Duration `yaml:"bodyTimeout"`
	RequestTimeout time.Duration `yaml:"requestTimeout"`
	IdleTimeout    time.Duration `yaml:"idleTimeout"`
	Connections    int           `yaml:"connections"`
	InFlight       int           `yaml:"inFlight"`
}

// AAA are the settings of access control that are not rules.
type AAA struct {
	TokenLifetime    time.Duration `yaml:"tokenLifetime"`
	LoginCache       time.Duration `yaml:"loginCache"` // of outside realms; 0 = none
	RoleDeniedStatus int           `yaml:"roleDeniedStatus"`
	RealmKinds       []string      `yaml:"realmKinds"` // of plugins that are not ours
	TrustedOrigins   []string      `yaml:"trustedOrigins"`
	PasswordMinimum  int           `yaml:"passwordMinimum"`
	PasswordBlocked  string        `yaml:"passwordBlocked"` // file, relative to the home
	PasswordMaxAge   time.Duration `yaml:"passwordMaxAge"`  // 0 = any
	ChangeFirst      bool          `yaml:"changeFirstPasswords"`
	Throttle         Throttle      `yaml:"throttle"`
	Argon2           Argon2        `yaml:"argon2"`
}

// Throttle slows failed logins down.
type Throttle struct {
	After    int           `yaml:"after"`
	Delay    time.Duration `yaml:"delay"`
	MaxDelay time.Duration `yaml:"maxDelay"`
	Forget   time.Duration `yaml:"forget"`
}

// Argon2 are the parameters of new password hashes.
type Argon2 struct {
	Memory   Size `yaml:"memory"`
	Time     int  `yaml:"time"`
	Threads  int  `yaml:"threads"`
	Parallel int  `yaml:"parallel"` // 0 = half the processors, at least 1
}

// Features are those of the very first start; nil = those the catalogue marks boot.
type Features struct {
	Boot []string `yaml:"boot"`
}

// Log is the standard log.
type Log struct {
	Level   string            `yaml:"level"`
	Levels  map[string]string `yaml:"levels"`
	MaxSize Size              `yaml:"maxSize"`
	Keep    int               `yaml:"keep"`
	Buffer  int               `yaml:"buffer"`
}

// Supervisor looks after the plugin processes.
type Supervisor struct {
	StartTimeout time.Duration `yaml:"startTimeout"`
	CallTimeout  time.Duration `yaml:"callTimeout"`
	Backoff      time.Duration `yaml:"backoff"`
	MaxBackoff   time.Duration `yaml:"maxBackoff"`
	MaxFailures  int           `yaml:"maxFailures"`
	StopGrace    time.Duration `yaml:"stopGrace"`
}

// Console is the shell.
type Console struct {
	IdleTimeout time.Duration `yaml:"idleTimeout"` // 0 = none
	History     int           `yaml:"history"`
	Directories []string      `yaml:"directories"` // besides import/ and export/
}

// Tracing sends spans to a collector.
type Tracing struct {
	Endpoint string `yaml:"endpoint"` // OTLP over HTTP; empty = nothing is sent
}

// Default returns the settings of a controller whose etc/ctl.yaml says nothing.
func Default() Config {
	return Config{
		Listeners: Listeners{HTTP: "127.0.0.1:8181", HTTPS: Off, SSH: "127.0.0.1:8101", Admin: "127.0.0.1:8182"},
		TLS:       TLS{MinVersion: "1.2", ClientCertificates: "off"},
		Datastore: Datastore{Engine: "badger", History: 4096, Etcd: Etcd{Prefix: "ctl/", Timeout: 5 * time.Second}},
		Cluster:   Cluster{Listen: Off},
		Limits: Limits{Body: 8 << 20, Header: 64 << 10, HeaderTimeout: 10 * time.Second, BodyTimeout: time.Minute,
			RequestTimeout: time.Minute, IdleTimeout: 2 * time.Minute, Connections: 4096, InFlight: 512},
		AAA: AAA{TokenLifetime: time.Hour, LoginCache: time.Minute, RoleDeniedStatus: 401, PasswordMinimum: 8,
			Throttle: Throttle{After: 5, Delay: 250 * time.Millisecond, MaxDelay: 10 * time.Second, Forget: 15 * time.Minute},
			Argon2:   Argon2{Memory: 19 << 20, Time: 2, Threads: 1}},
		Log: Log{Level: "INFO", MaxSize: 20 << 20, Keep: 5, Buffer: 2000},
		Supervisor: Supervisor{StartTimeout: 30 * time.Second, CallTimeout: time.Minute, Backoff: 200 * time.Millisecond,
			MaxBackoff: 30 * time.Second, MaxFailures: 10, StopGrace: 5 * time.Second},
		Console: Console{IdleTimeout: 30 * time.Minute, History: 500},
	}
}
