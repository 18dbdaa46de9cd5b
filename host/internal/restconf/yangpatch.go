package restconf

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	"ctl.internal/host/internal/restconf/tree"
	"ctl.internal/internal/yang"
	"ctl.internal/sdk/fault"
)

// yangPatch is the body of a YANG patch (RFC 8072 section 2.1).
type yangPatch struct {
	ID      string      `json:"patch-id"`
	Comment string      `json:"comment"`
	Edit    []patchEdit `json:"edit"`
}

type patchEdit struct {
	ID     string          `json:"edit-id"`
	Op     tree.Op         `json:"operation"`
	Target string          `json:"target"`
	Point  string          `json:"point"`
	Where  string          `json:"where"`
	Value  json.RawMessage `json:"value"` // or an XML element
}

const maxEdits = 10_000

// readPatch decodes and bounds a patch.
func readPatch(body []byte) (*yangPatch, error) {
	var patch yangPatch
	dec := json.NewDecoder(bytes.NewReader(unwrapMember(body, "ietf-yang-patch:yang-patch", "yang-patch")))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&patch); err != nil {
		return nil, fault.Wrap(fault.Malformed, err, "the YANG patch cannot be read: %v", err)
	}
	return &patch, patch.checkEdits()
}

// checkEdits bounds a patch and looks at the ids in it.
func (patch *yangPatch) checkEdits() error {
	if patch.ID == "" {
		return fault.At(
			fault.Missing,
			"/ietf-yang-patch:yang-patch/patch-id",
			"the member is required",
		)
	}
	if len(patch.Edit) > maxEdits {
		return tooManyEdits()
	}
	seen := map[string]bool{}
	for _, e := range patch.Edit {
		if e.ID == "" || seen[e.ID] {
			return fault.At(
				fault.Invalid,
				"/ietf-yang-patch:yang-patch/edit",
				"every edit needs a unique edit-id, %q is used twice",
				e.ID,
			)
		}
		seen[e.ID] = true
	}
	return nil
}

func tooManyEdits() error {
	return fault.New(fault.TooBig, "a patch may have %d edits", maxEdits)
}

// yangPatch applies an ordered list of edits, all or nothing.
func (x *exchange) yangPatch(p tree.Path) error {
	_, body, err := x.readRequest()
	var patch *yangPatch
	if err == nil {
		if x.inXML {
			patch, err = readXMLPatch(body)
		} else {
			patch, err = readPatch(body)
		}
	}
	if err != nil {
		return err
	}
	failedEdit := ""
	err = x.updateConfig(p, func(d *tree.Draft) error {
		for i := range patch.Edit {
			failedEdit = patch.Edit[i].ID
			e, err := x.readEdit(p, patch, i)
			if err != nil {
				return err
			}
			if _, err := x.apply(d, e); err != nil {
				if e.Op == tree.Delete {
					err = absentTarget(err)
				}
				return err
			}
		}
		failedEdit = ""
		return nil
	})
	x.patchStatus(patch, failedEdit, err)
	return nil
}

// readEdit reads one edit of a patch.
func (x *exchange) readEdit(p tree.Path, patch *yangPatch, i int) (tree.Edit, error) {
	in := patch.Edit[i]
	e := tree.Edit{Op: in.Op}
	set := x.installed().Schema
	var err error
	if e.Path, err = parseRelativeTarget(set, p, in.Target); err != nil {
		return e, err
	}
	if (len(e.Path) == 0 || !e.Path.Node().Config) && in.Op != tree.Merge && in.Op != tree.Replace {
		return e, fault.New(
			fault.Invalid,
			"the target %.100q cannot be edited in this way",
			in.Target,
		)
	}
	if len(in.Value) > 0 && (in.Op == tree.Delete || in.Op == tree.Remove || in.Op == tree.Move) {
		return e, fault.New(
			fault.Invalid,
			"the operation %q has no value (RFC 8072 section 2.5)",
			string(in.Op),
		)
	}
	if (in.Where != "" || in.Point != "") && in.Op != tree.Insert && in.Op != tree.Move {
		return e, fault.New(
			fault.Invalid,
			"where and point are only for insert and move, not for %q",
			string(in.Op),
		)
	}
	switch in.Op {
	case tree.Delete, tree.Remove:
		return e, nil
	case tree.Insert, tree.Move:
		e.Place.Where = in.Where
		if e.Place.Where == "" {
			e.Place.Where = "last"
		}
		if in.Point != "" {
			if e.Place.Point, err = parseRelativeTarget(set, p, in.Point); err != nil {
				return e, err
			}
		}
		if in.Op == tree.Move {
			return e, nil
		}
	case tree.Create, tree.Merge, tree.Replace:
	default:
		return e, fault.New(fault.Invalid, "there is no operation %.40q", string(in.Op))
	}
	if len(in.Value) == 0 {
		return e, fault.New(fault.Missing, "the operation %q needs a value", string(in.Op))
	}
	o := x.bodyOptions()
	o.Partial = in.Op == tree.Merge
	e.Value, err = x.decodeBody(e.Path, in.Value, o)
	return e, err
}

// parseRelativeTarget reads a target, which is relative to the resource that is patched.
func parseRelativeTarget(set *yang.Set, p tree.Path, target string) (tree.Path, error) {
	if !strings.HasPrefix(target, "/") {
		return nil, fault.New(fault.Invalid, "a target begins with a slash: %.100q", target)
	}
	return tree.ParseText(set, p.Key()+target)
}

// patchStatus answers a YANG patch (RFC 8072 section 2.3). The status is that of the edit that failed;
// those before it are listed as not kept, as a patch is applied as a whole.
func (x *exchange) patchStatus(patch *yangPatch, failedEdit string, err error) {
	status := map[string]any{"patch-id": patch.ID}
	code, entries := http.StatusOK, []entry(nil)
	if err != nil {
		code, entries = x.errorEntries(err)
	}
	switch {
	case err == nil:
		status["ok"] = []any{nil}
	case failedEdit == "":
		status["errors"] = map[string]any{"error": entries}
	default:
		var edits []any
		for _, e := range patch.Edit {
			if e.ID == failedEdit {
				edits = append(
					edits,
					map[string]any{
						"edit-id": e.ID,
						"errors":  map[string]any{"error": entries},
					},
				)
				break
			}
			edits = append(edits, map[string]any{
				"edit-id": e.ID,
				"errors": map[string]any{"error": []entry{{
					Type:    "protocol",
					Tag:     "operation-failed",
					Message: "not kept: the edit " + failedEdit + " failed, and a patch is applied as a whole",
				}}},
			})
		}
		status["edit-status"] = map[string]any{"edit": edits}
	}
	x.sendErrors(
		code,
		map[string]any{x.env.qualifiedName("ietf-yang-patch", "yang-patch-status"): status},
	)
}
