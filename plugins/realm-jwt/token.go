package realmjwt

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	josejson "github.com/go-jose/go-jose/v4/json"

	"ctl.internal/sdk/realm"
)

// maxToken bounds a token, and maxKid its name of a key, in bytes.
const (
	maxToken = 8 << 10
	maxKid   = 256
)

// jwtRealm is one instance of etc/sec.ini.
type jwtRealm struct {
	now        func() time.Time
	keys       *keyCache
	close      func()
	issuer     string
	audience   []string // one of them must be meant; none = any
	parties    []string // one of them must have asked for the token; none = any
	algorithms []jose.SignatureAlgorithm
	typ        string
	user, role string            // paths of claims
	roles      map[string]string // of groups; nil = their names
	skew       time.Duration
	active     *introspection // nil = the provider is not asked about tokens
}

// Takes implements realm.Taker.
func (j *jwtRealm) Takes() []realm.Kind { return []realm.Kind{realm.Bearer} }

// Close implements realm.Realm.
func (j *jwtRealm) Close() error {
	j.keys.close()
	j.close()
	return nil
}

// Authenticate implements realm.Realm. Whose token it is is read before the signature is verified, so that
// the provider is not asked for tokens of others; nothing else is believed before.
func (j *jwtRealm) Authenticate(ctx context.Context, c realm.Credentials) (realm.Result, error) {
	signed, why := j.parse(c.Bearer)
	if why != "" {
		return refuse(why)
	}
	header := signed.Signatures[0].Protected
	keys, err := j.keys.find(ctx, header.KeyID)
	switch {
	case errors.Is(err, errNoSuchKey):
		return refuse(err.Error())
	case err != nil:
		return realm.Result{}, err
	}
	payload, ok := verify(signed, header, keys)
	if !ok {
		return refuse("the signature is not one of the provider's keys")
	}
	said, why := readClaims(payload)
	if why == "" {
		why = j.checkClaims(said)
	}
	if why != "" {
		return refuse(why)
	}
	if j.active != nil { // last, so that the provider is asked for good tokens alone
		if active, err := j.active.isActive(ctx, c.Bearer); err != nil || !active {
			return realm.Result{Reason: "the provider has revoked it"}, err
		}
	}
	return j.resultOf(said)
}

func refuse(why string) (realm.Result, error) {
	return realm.Result{
		Outcome: realm.Unknown,
		Reason:  why,
	}, nil
}

// parse reads a token of this issuer that is signed with an algorithm that is allowed.
func (j *jwtRealm) parse(text string) (signed *jose.JSONWebSignature, why string) {
	parts := strings.Split(text, ".")
	if len(text) > maxToken || len(parts) != 3 || strings.ContainsFunc(text, isNoTokenRune) {
		return nil, "it is no JWT"
	}
	payload, err := base64.RawURLEncoding.Strict().DecodeString(parts[1])
	if err != nil {
		return nil, "it is no JWT"
	}
	said, why := readClaims(payload)
	if why != "" {
		return nil, why
	}
	if iss, _ := said["iss"].(string); iss != j.issuer {
		return nil, "it is of another issuer"
	}
	if why := j.checkHeader(parts[0]); why != "" {
		return nil, why
	}
	signed, err = jose.ParseSignedCompact(text, j.algorithms)
	if err != nil || len(signed.Signatures) != 1 {
		return nil, "it is not signed, or with an algorithm that is not allowed"
	}
	return signed, ""
}

// isNoTokenRune finds what the decoders of Base64 pass over, such as line breaks.
func isNoTokenRune(r rune) bool {
	letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	return !letter && r != '-' && r != '_' && r != '.'
}

// checkHeader says why a header cannot be taken: it can be read in two ways, has another type, or demands
// extensions (RFC 7515, 4.1.11), of which none is known here.
func (j *jwtRealm) checkHeader(part string) string {
	var header map[string]any
	text, err := base64.RawURLEncoding.Strict().DecodeString(part)
	if err != nil || josejson.Unmarshal(text, &header) != nil {
		return "its header cannot be read in one way only"
	}
	if _, given := header["crit"]; given {
		return "its header demands extensions (crit)"
	}
	kid, _ := header["kid"].(string)
	if len(kid) > maxKid {
		return "its kid is too long"
	}
	typ, given := header["typ"]
	name, isText := typ.(string)
	name = strings.TrimPrefix(strings.ToLower(name), "application/")
	switch {
	case !given && strings.EqualFold(j.typ, "JWT"): // RFC 7519, 5.1: it may be left out
		return ""
	case !isText || !strings.EqualFold(name, j.typ):
		return "its typ is not " + j.typ
	}
	return ""
}

// verify returns the payload if one of the keys has signed it. Keys that are sent along with the token, or that
// it says where to find, are never used. The library compares algorithm and key: kind and curve.
func verify(signed *jose.JSONWebSignature, h jose.Header, keys []jose.JSONWebKey) ([]byte, bool) {
	for _, k := range keys {
		if k.Algorithm != "" && k.Algorithm != h.Algorithm {
			continue
		}
		if payload, err := signed.Verify(k.Key); err == nil {
			return payload, true
		}
	}
	return nil, false
}
