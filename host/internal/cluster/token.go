package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"ctl.internal/host/internal/home"
	"ctl.internal/host/internal/keys/encrypt"
	"ctl.internal/sdk/fault"
)

// tokenFormat is the version of the token's text.
const tokenFormat = 1

// maxToken bounds a token file, in bytes.
const maxToken = 1 << 20

// TokenTime is how long a node may join with a token.
const TokenTime = 24 * time.Hour

// DefaultPort is where a node that joined takes calls of the others, unless it is said.
const DefaultPort = "8183"

// Token is all that a new node needs: where the store is, what opens it, and the key of
// the secrets in it. It is as secret as the home it came from.
type Token struct {
	Format      int       `json:"format"`
	Made        time.Time `json:"made"`
	Expires     time.Time `json:"expires"`
	Node        string    `json:"node"`   // that made it
	Engine      string    `json:"engine"` // of the datastore
	Endpoints   []string  `json:"endpoints"`
	Prefix      string    `json:"prefix"`
	Username    string    `json:"username,omitempty"`
	Password    string    `json:"password,omitempty"`
	CA          string    `json:"ca,omitempty"` // these three in PEM
	Certificate string    `json:"certificate,omitempty"`
	Key         string    `json:"key,omitempty"`
	Secrets     string    `json:"secrets"` // aaa-encrypt-service-config.xml
}

// MakeToken writes the token of a member into a file that only its owner can read.
func MakeToken(dir home.Dir, c home.Datastore, node, path string) error {
	if !c.Shared {
		return fault.New(
			fault.Unsupported,
			"this controller keeps its data in its own home (datastore.engine: %s): there is no cluster to join; docs/cluster.md says how to create one",
			c.Engine,
		)
	}
	made := time.Now().UTC().Truncate(time.Second)
	t := Token{
		Format:    tokenFormat,
		Made:      made,
		Expires:   made.Add(TokenTime),
		Node:      node,
		Engine:    c.Engine,
		Endpoints: c.Etcd.Endpoints,
		Prefix:    c.Etcd.Prefix,
		Username:  c.Etcd.Username,
		Password:  c.Etcd.Password,
	}
	for _, f := range []struct {
		name string
		to   *string
	}{{c.Etcd.CA, &t.CA}, {c.Etcd.Certificate, &t.Certificate}, {c.Etcd.Key, &t.Key}} {
		if f.name == "" {
			continue
		}
		text, err := home.ReadRegular(dir.Path(f.name))
		if err != nil {
			return fmt.Errorf("the token needs a file of datastore.etcd: %w", err)
		}
		*f.to = string(text)
	}
	secrets, err := home.ReadRegular(encrypt.ConfigFile(dir))
	if err != nil {
		return fmt.Errorf("the token needs the key of the secrets: %w", err)
	}
	t.Secrets = string(secrets)
	text, err := json.MarshalIndent(t, "", " ")
	if err != nil {
		return err
	}
	return home.WriteFile(path, append(text, '\n'), 0o600)
}

// Loopback returns the endpoints of a token that other machines cannot reach.
func Loopback(endpoints []string) (out []string) {
	for _, e := range endpoints {
		u, err := url.Parse(e)
		if err == nil && (u.Hostname() == "localhost" || net.ParseIP(u.Hostname()).IsLoopback()) {
			out = append(out, e)
		}
	}
	return out
}

// ReadToken parses a token.
func ReadToken(text []byte) (Token, error) {
	var t Token
	if err := json.Unmarshal(text, &t); err != nil {
		return t, fmt.Errorf("it is not a token of cluster:token: %w", err)
	}
	switch {
	case t.Format != tokenFormat:
		return t, fmt.Errorf(
			"it has the format %d, this release supports %d: create it with the release that is to join",
			t.Format,
			tokenFormat,
		)
	case t.Engine == "" || len(t.Endpoints) == 0 || t.Secrets == "" || t.Prefix == "":
		return t, errors.New("it names no engine, no endpoints, no prefix or no key: make it again with cluster:token")
	}
	return t, nil
}

// Join makes a new home that of a member: it lays down etc/ctl.yaml, the key and the
// certificates that the token holds. A home that has joined the same cluster already is
// left as it is. listen is where the node takes calls of the others; empty = this
// machine's address towards the store.
func Join(dir home.Dir, file, listen string) error {
	info, err := os.Stat(file)
	if err != nil {
		return fmt.Errorf("join: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf(
			"join: %s has mode %04o, others may have read the key in it; set it to 0600 if you trust them",
			file,
			info.Mode().Perm(),
		)
	}
	text, err := home.ReadBounded(file, maxToken)
	if err != nil {
		return fmt.Errorf("join: %w", err)
	}
	t, err := ReadToken(text)
	if err != nil {
		return fmt.Errorf("join: %s: %w", file, err)
	}
	if _, err := os.Stat(dir.Etc("ctl.yaml")); err == nil {
		return t.checkJoinedHome(dir, file)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("join: %w", err)
	}
	if now := time.Now(); now.After(t.Expires) {
		return fmt.Errorf("join: %s expired at %s (it is %s here): create another one with cluster:token on a node of the cluster",
			file, t.Expires.Format(time.RFC3339), now.UTC().Format(time.RFC3339))
	}
	if _, err := os.Stat(dir.Data("format")); err == nil {
		return fmt.Errorf(
			"join: %s has been used without etc/ctl.yaml, and its data would be hidden: choose a new --home",
			string(dir),
		)
	}
	return t.layDown(dir, listen)
}

// checkJoinedHome accepts a home whose settings name the cluster of the token.
func (t Token) checkJoinedHome(dir home.Dir, file string) error {
	loaded, problems := home.Load(dir, nil, nil)
	if err := home.Fatal(problems); err != nil {
		return err
	}
	c := loaded.Datastore
	if c.Engine == t.Engine &&
		c.Etcd.Prefix == t.Prefix &&
		slices.ContainsFunc(c.Etcd.Endpoints, func(e string) bool {
			return slices.Contains(t.Endpoints, e)
		}) {
		return nil
	}
	return fmt.Errorf("join: %s is already a home, but not of the cluster of %s: datastore.engine is %s with the prefix %s at %v; choose a new --home, or correct etc/ctl.yaml",
		string(dir), file, c.Engine, c.Etcd.Prefix, c.Etcd.Endpoints)
}

func (t Token) layDown(dir home.Dir, listen string) error {
	if listen == "" {
		host, err := localAddressTowards(t.Endpoints[0])
		if err != nil {
			return fmt.Errorf(
				"join: %w; use --cluster HOST:PORT to set the address for calls of the other nodes",
				err,
			)
		}
		listen = net.JoinHostPort(host, DefaultPort)
	}
	etcd := map[string]any{
		"endpoints": t.Endpoints,
		"prefix":    t.Prefix,
	}
	set := func(key, value string) {
		if value != "" {
			etcd[key] = value
		}
	}
	set("username", t.Username)
	set("password", t.Password)
	files := map[string]string{encrypt.ConfigFile(dir): t.Secrets}
	for key, pem := range map[string]string{
		"ca":          t.CA,
		"certificate": t.Certificate,
		"key":         t.Key,
	} {
		if pem != "" {
			set(key, "etc/etcd-"+key+".pem")
			files[dir.Etc("etcd-"+key+".pem")] = pem
		}
	}
	settings, err := yaml.Marshal(map[string]any{
		"datastore": map[string]any{
			"engine": t.Engine,
			"etcd":   etcd,
		},
		"cluster": map[string]any{"listen": listen},
	})
	if err != nil {
		return err
	}
	head := "# Laid down by joining a cluster, with a token of " + t.Node + ". `ctl config show --effective` lists all settings.\n"
	for path, text := range files {
		if err := writePrivateFile(path, text); err != nil {
			return err
		}
	}
	return writePrivateFile(dir.Etc("ctl.yaml"), head+string(settings)) // last: with it the home has joined
}

func writePrivateFile(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("join: %w", err)
	}
	return home.WriteFile(path, []byte(text), 0o600)
}

// localAddressTowards is the address of this machine from which it reaches an endpoint. Nothing is
// sent.
func localAddressTowards(endpoint string) (string, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Hostname() == "" {
		return "", fmt.Errorf("%q is not an address", endpoint)
	}
	port := u.Port()
	if port == "" {
		port = "2379"
	}
	c, err := net.DialTimeout("udp", net.JoinHostPort(u.Hostname(), port), askTime)
	if err != nil {
		return "", err
	}
	defer c.Close()
	host, _, err := net.SplitHostPort(c.LocalAddr().String())
	host, _, _ = strings.Cut(host, "%")
	return host, err
}
