package realmjwt

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/asn1"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"math/big"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"ctl.internal/sdk/realm"
)

// leastHostile is how many hostile tokens are tried at least.
const leastHostile = 300

func b64(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }

// rawES256 signs what the library would not.
func rawES256(key *ecdsa.PrivateKey, header, payload string) string {
	text := b64(header) + "." + b64(payload)
	sum := sha256.Sum256([]byte(text))
	r, s, err := ecdsa.Sign(rand.Reader, key, sum[:])
	if err != nil {
		panic(err)
	}
	signature := make([]byte, 64)
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:])
	return text + "." + b64(string(signature))
}

func rawHMAC(secret []byte, header, payload string) string {
	text := b64(header) + "." + b64(payload)
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(text))
	return text + "." + b64(string(mac.Sum(nil)))
}

// hostile are tokens by name, none of which may be taken.
type hostile map[string]string

func (h hostile) add(name, token string) {
	if _, twice := h[name]; twice {
		panic("two hostile tokens are called " + name)
	}
	h[name] = token
}

func (h hostile) addAlgorithms(key *ecdsa.PrivateKey, payload string) {
	for _, alg := range []string{"none", "None", "NONE", "nOnE", "", "null", "RS256", "RS512", "PS256", "ES384", "ES512", "ES256K", "EdDSA", "HS256", "HS384", "HS512", "RSA1_5", "dir", "A128KW", "es256", "ES256 "} {
		head := fmt.Sprintf(`{"alg":%q,"typ":"JWT","kid":"ec"}`, alg)
		h.add("alg "+alg+" without a signature", b64(head)+"."+b64(payload)+".")
		h.add("alg "+alg+" with one of ES256", rawES256(key, head, payload))
		h.add("alg "+alg+" without kid", b64(fmt.Sprintf(`{"alg":%q}`, alg))+"."+b64(payload)+".")
	}
	for _, head := range []string{`{"typ":"JWT","kid":"ec"}`, `{"alg":null,"kid":"ec"}`, `{"alg":["ES256"],"kid":"ec"}`, `{"alg":7,"kid":"ec"}`, `{}`, `[]`, `null`, `"x"`, ``, `{`,
		`{"alg":"ES256","alg":"none","kid":"ec"}`, `{"alg":"none","alg":"ES256","kid":"ec"}`, `{"alg":"ES256","kid":"ec","kid":"x"}`, `{"alg":"ES256","typ":"JWT","typ":"JWT","kid":"ec"}`,
		`{"ALG":"ES256","kid":"ec"}`, `{"alg":"ES256","kid":"ec"}x`} {
		h.add("header "+head, rawES256(key, head, payload))
	}
	der := must(x509.MarshalPKIXPublicKey(key.Public()))
	jwk := must((&jose.JSONWebKey{Key: key.Public(), KeyID: "ec"}).MarshalJSON())
	text := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	for name, secret := range map[string][]byte{"DER": der, "PEM": text, "PEM without its end": text[:len(text)-1], "JWK": jwk, "nothing": {}, "kid": []byte("ec"), "point": must(key.PublicKey.Bytes())} {
		for _, alg := range []string{"HS256", "ES256"} {
			h.add(alg+" by HMAC with the public key as "+name, rawHMAC(secret, fmt.Sprintf(`{"alg":%q,"typ":"JWT","kid":"ec"}`, alg), payload))
		}
	}
}

func (h hostile) addSignatures(i *issuer, key *ecdsa.PrivateKey, good string) {
	parts := strings.Split(good, ".")
	signature := must(base64.RawURLEncoding.DecodeString(parts[2]))
	put := func(name string, signature []byte) {
		h.add("signature: "+name, parts[0]+"."+parts[1]+"."+b64(string(signature)))
	}
	put("none", nil)
	put("zeros", make([]byte, 64))
	put("half", signature[:32])
	put("one byte less", signature[:63])
	put("one byte more", append(signature[:64:64], 0))
	put("twice", append(signature[:64:64], signature...))
	put("DER", must(asn1.Marshal(struct{ R, S *big.Int }{new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])})))
	order := key.Params().N.FillBytes(make([]byte, 32))
	put("r is the order", append(order, signature[32:]...))
	put("s is the order", append(signature[:32:32], order...))
	for n := range signature {
		changed := append([]byte(nil), signature...)
		changed[n] ^= 1
		put(fmt.Sprint("bit in byte ", n), changed)
	}
	other := strings.Split(i.token(with(i.claims(), "preferred_username", "eve")), ".")
	h.add("the signature of another token", parts[0]+"."+parts[1]+"."+other[2])
	h.add("the claims of another token", parts[0]+"."+other[1]+"."+parts[2])
	for n := 0; n < len(parts[1]); n += 4 {
		changed := []byte(parts[1])
		if changed[n]++; changed[n] == 'Z'+1 || changed[n] == 'z'+1 || changed[n] == '9'+1 {
			changed[n] = 'A'
		}
		h.add(fmt.Sprint("claims changed at ", n), parts[0]+"."+string(changed)+"."+parts[2])
	}
	for n := 0; n < len(good); n += 8 {
		h.add(fmt.Sprint("cut at ", n), good[:n])
	}
}

func (h hostile) addKeys(i *issuer, payload string) {
	own := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	jwk := string(must((&jose.JSONWebKey{Key: own.Public(), KeyID: "ec"}).MarshalJSON()))
	for _, more := range []string{`"kid":"ec"`, `"kid":"x"`, `"kid":""`, `"kid":null`, `"kid":7`, `"kid":["ec"]`, `"kid":"../../../../dev/null"`, `"kid":"ec' OR '1'='1"`, `"kid":"EC"`, `"kid":"ec\u0000"`,
		`"kid":"` + strings.Repeat("k", 4000) + `"`, `"kid":"ec","jwk":` + jwk, `"jwk":` + jwk, `"kid":"ec","jku":"` + i.URL + `/own"`, `"jku":"https://eve.example.org/keys"`, `"kid":"ec","x5u":"https://eve.example.org/c"`,
		`"kid":"ec","x5c":["MIIB"]`, `"kid":"ec","x5t":"x"`, `"typ":"JWT","kid":"ec"`, `"iss":"` + i.URL + `"`} {
		h.add("another key, "+more, rawES256(own, `{"alg":"ES256",`+more+`}`, payload))
	}
	right := i.keys["ec"].(*ecdsa.PrivateKey)
	for _, more := range []string{`"kid":"x"`, `"kid":"EC"`, `"kid":7`, `"kid":["ec"]`, `"kid":"` + strings.Repeat("k", 300) + `"`, `"kid":"ec","crit":["exp"],"exp":1`, `"kid":"ec","crit":["b64"],"b64":false`, `"kid":"ec","crit":[]`,
		`"kid":"ec","crit":"exp"`, `"kid":"ec","typ":"at+jwt"`, `"kid":"ec","typ":"JWE"`, `"kid":"ec","typ":"logout+jwt"`, `"kid":"ec","typ":"dpop+jwt"`, `"kid":"ec","typ":7`, `"kid":"ec","typ":null`, `"kid":"ec","typ":["JWT"]`, `"kid":"ec","typ":""`,
		`"kid":"rsa"`, `"kid":"p384"`, `"kid":"short"`, `"kid":"enc"`} {
		h.add("the right key, "+more, rawES256(right, `{"alg":"ES256",`+more+`}`, payload))
	}
	h.add("a key of another curve", sign(jose.ES384, i.keys["p384"], header("kid", "p384"), payload))
	h.add("a short RSA key", sign(jose.RS256, i.keys["short"], header("kid", "short"), payload))
	h.add("an RSA key by an algorithm that is not allowed", sign(jose.PS256, i.keys["rsa"], header("kid", "rsa"), payload))
}

func (h hostile) addClaims(i *issuer, said map[string]any) {
	now := said["iat"].(int64)
	odd := []any{nil, true, false, "x", "1800000000", []any{}, []any{now + 600}, map[string]any{}, -1, 1e300}
	wrong := map[string][]any{
		"iss":                {nil, "", 7, []any{i.URL}, map[string]any{}, i.URL + "/", i.URL + " ", " " + i.URL, strings.ToUpper(i.URL), i.URL[:len(i.URL)-1], i.URL + "0", "https" + i.URL[4:], "https://eve.example.org", i.URL + "\x00", i.URL + "@eve.example.org", i.URL + "#x"},
		"aud":                {nil, "", "ct", "ctl2", "CTL", "ctl ", 7, true, []any{}, []any{"x"}, []any{7}, []any{"ctl", 7}, []any{[]any{"ctl"}}, map[string]any{"ctl": true}, "x,ctl", "ctl\x00"},
		"azp":                {nil, "", "x", 7, []any{"web"}, "WEB", map[string]any{}},
		"exp":                append([]any{0, now - 60, now - 61, now - 3600, "never"}, odd...),
		"nbf":                append([]any{now + 61, now + 3600}, odd[1:]...),
		"iat":                append([]any{now + 61, now + 3600}, odd[1:]...),
		"preferred_username": {nil, "", 7, true, []any{"ann"}, map[string]any{}, "ann\nadmin", "ann\x00", "ann\u202e", strings.Repeat("a", 129), "\t"},
		"groups":             {7, true, map[string]any{"admin": true}, []any{"a", 7}, []any{[]any{"admin"}}, []any{nil}, many(201)},
	}
	for name, values := range wrong {
		for n, value := range values {
			changed := maps.Clone(said)
			if changed[name] = value; value == nil {
				delete(changed, name)
			}
			h.add(fmt.Sprint(name, " ", n), i.token(changed))
		}
	}
	good := string(must(json.Marshal(said)))
	for _, payload := range []string{"", "null", "[]", "{}", "7", `"x"`, "{", good + "x", good + good, "\ufeff" + good, good[:len(good)-1], `[` + good + `]`, strings.Repeat("[", 3000), `{"a":` + strings.Repeat("[", 2000) + good,
		good[:len(good)-1] + `,"exp":9999999999}`, `{"preferred_username":"admin",` + good[1:], `{"iss":"x",` + good[1:], good[:len(good)-1] + `,"aud":"ctl"}`, `{"groups":["admin"],` + good[1:],
		good[:len(good)-1] + `,"x":{"y":1,"y":2}}`, strings.Replace(good, `"exp"`, `"EXP"`, 1), strings.Replace(good, `"exp":`, `"exp":1e999,"e":`, 1)} {
		h.add("claims "+payload, sign(jose.ES256, i.keys["ec"], header(), payload))
	}
}

func many(n int) (out []any) {
	for i := range n {
		out = append(out, fmt.Sprint("role", i))
	}
	return out
}

func (h hostile) addForms(good string) {
	parts := strings.Split(good, ".")
	for name, token := range map[string]string{
		"empty": "", "one dot": ".", "two dots": "..", "three dots": "...", "a word": "token", "four parts": good + ".x", "five parts": good + "..", "dot before": "." + good, "dot behind": good + ".",
		"without a signature": parts[0] + "." + parts[1], "blank before": " " + good, "line break behind": good + "\n", "line break within": parts[0] + ".\n" + parts[1] + "." + parts[2],
		"padding": parts[0] + "=." + parts[1] + "." + parts[2], "padded claims": parts[0] + "." + parts[1] + "==." + parts[2], "scheme": "Bearer " + good, "huge": parts[0] + "." + parts[1] + strings.Repeat("A", maxToken) + "." + parts[2],
		"huge header": strings.Repeat("A", 1<<20) + "." + parts[1] + "." + parts[2], "percent": strings.Replace(good, ".", "%2E", 1), "NUL": good[:len(good)-1] + "\x00",
		"JSON":           fmt.Sprintf(`{"payload":%q,"protected":%q,"signature":%q}`, parts[1], parts[0], parts[2]),
		"JSON, several":  fmt.Sprintf(`{"payload":%q,"signatures":[{"protected":%q,"signature":%q}]}`, parts[1], parts[0], parts[2]),
		"parts in turn":  parts[1] + "." + parts[0] + "." + parts[2],
		"header twice":   parts[0] + "." + parts[0] + "." + parts[2],
		"token of ours":  "01234567-89ab-cdef-0123-456789abcdef",
		"another issuer": b64(`{"alg":"ES256"}`) + "." + b64(`{"iss":"https://eve.example.org"}`) + "." + parts[2],
	} {
		h.add("form: "+name, token)
	}
}

func TestNoHostileTokenIsTaken(t *testing.T) {
	i := newIssuer(t)
	i.keys["rsa"] = must(rsa.GenerateKey(rand.Reader, 2048))
	i.keys["p384"] = must(ecdsa.GenerateKey(elliptic.P384(), rand.Reader))
	i.keys["short"] = shortRSA()
	list := func(item string) realm.Property { return realm.Property{Value: item, List: []string{item}} }
	j := i.mustRealm(map[string]realm.Property{"authorized-parties": list("web")})
	said := with(i.claims(), "azp", "web")
	key, payload := i.keys["ec"].(*ecdsa.PrivateKey), string(must(json.Marshal(said)))
	good := i.token(said)
	h := hostile{}
	h.addAlgorithms(key, payload)
	h.addSignatures(i, key, good)
	h.addKeys(i, payload)
	h.addClaims(i, said)
	h.addForms(good)
	for name, token := range h {
		got, err := ask(t, j, token)
		if err != nil || got.Outcome != realm.Unknown || got.Principal != "" || len(got.Roles) > 0 {
			t.Errorf("%.80s: %+v, %v", name, got, err)
		}
		if len(token) > 40 && strings.Contains(got.Reason, token) {
			t.Errorf("%.80s: the reason has the token", name)
		}
	}
	if len(h) < leastHostile {
		t.Errorf("only %d hostile tokens", len(h))
	}
	if got, err := ask(t, j, good); err != nil || got.Outcome != realm.Authenticated {
		t.Errorf("the good one: %+v, %v", got, err)
	}
	t.Logf("%d hostile tokens", len(h))
}

// shortRSA is a key of 1024 bits, which crypto/rsa makes no more.
func shortRSA() crypto.Signer {
	block, _ := pem.Decode([]byte(shortKey))
	return must(x509.ParsePKCS1PrivateKey(block.Bytes))
}

// shortKey protects nothing.
const shortKey = `-----BEGIN RSA PRIVATE KEY-----
MIICXQIBAAKBgQDso1HaFrfxmdiGZ+RbOe/7JVMqpC+bU6neQ6FCdhxphBQiDJiH
vOH3W7hDhKrxlF53O5hn5jnAxP/7YXbVGI6Nym6v6AFO03JJH3/pa1qiO+yDX/qD
WVBH1TDS7NgeQP+GTEe/oZqaldfFdZ0vg4owDG+eveq+T3XlQ8vGDlAtjwIDAQAB
AoGBAJFX+sVGIPLe+JQNKcAyhMiv8zYEpEz2BSbEST7mBqt0eV00eVcd13izuCiY
StqYs7DuRLzENoLFPSjsgy19qMgVu0q4uuF+LMxLqhgEOWFhucrDv0qgF5hB609j
ArHWY/QLRSYVSxR2i/nI8IqFurdSJyn7kEROPm42UiHfqrcRAkEA+4BFoPhxlsX0
djESLn14WdEC6ob2tWbqHh0VkjrCnjmg3CpWajYzKZjcP01PfftckSWZJKrR67wo
jvvUbSRahwJBAPDe+8N3VQKhy8IGo+mPolSQLNMHWsIUuYwJcpYfYM5IFZygL07N
Ls3b8CUU0LZGg+CL4GBpKth8fveZtnwlrrkCQQCoXVG/ljJsje6+pNEYIFTOQ9bg
7CMCg3fdWvkS4JVi2Q9v9EPPbKNJiJSBKB88JmbsoC/qVRSc7GR2e+3Uds7HAkBn
7m8Hmlft+M4ofCEByF4sysDslYHNuI+PIwx0RjnJCEV6/YssH1CQttPZzC96VtbU
bsZ0EyzPmHhYcdTRoJjRAkBNfAMjIxNp3qSK1shNyin/SiVM7DGf4EPQSCom3yzt
PVvRainVQAOzwuRoPEx00xS6V0XupZZe8Yb0f2lMKfaM
-----END RSA PRIVATE KEY-----
`

// FuzzToken: whatever is sent, only a signature of the provider lets anybody in.
func FuzzToken(f *testing.F) {
	for _, s := range []string{"", "..", "a.b.c", b64(`{"alg":"none"}`) + "." + b64(`{"iss":"https://x.test"}`) + ".", b64(`{"alg":"ES256","kid":"k"}`) + "." + b64(`{"iss":"https://x.test","exp":9999999999}`) + ".AAAA"} {
		f.Add(s)
	}
	j := &jwtRealm{issuer: "https://x.test", algorithms: []jose.SignatureAlgorithm{jose.ES256}, typ: "JWT"}
	key := jose.JSONWebKey{Key: must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)).Public(), KeyID: "k"}
	f.Fuzz(func(t *testing.T, text string) {
		signed, why := j.parse(text)
		if why != "" {
			return
		}
		if _, ok := verify(signed, signed.Signatures[0].Protected, []jose.JSONWebKey{key}); ok {
			t.Errorf("%q is verified", text)
		}
	})
}
