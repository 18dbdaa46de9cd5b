package ctlclient

import (
	"reflect"
	"testing"

	"golang.org/x/crypto/ssh"

	"ctl.internal/host/internal/console/exit"
	"ctl.internal/host/internal/console/syntax"
	"ctl.internal/host/internal/console/wire"
)

// ctl and the console are two programs: what one says the other must understand.
func TestProtocolIsTheConsoles(t *testing.T) {
	for mine, theirs := range map[string]string{promptRequest: wire.PromptRequest, progressRequest: wire.ProgressRequest,
		readFileRequest: wire.ReadFileRequest, writeFileRequest: wire.WriteFileRequest,
		envFormat: wire.EnvFormat, envBatch: wire.EnvBatch, envKeepOn: wire.EnvKeepOn, envWidth: wire.EnvWidth} {
		if mine != theirs {
			t.Errorf("%q is %q to the console", mine, theirs)
		}
	}
	var p promptPayload
	if err := ssh.Unmarshal(ssh.Marshal(wire.Prompt{Text: "name: ", Echo: true}), &p); err != nil || p != (promptPayload{"name: ", true}) {
		t.Errorf("prompt %+v, %v", p, err)
	}
	var a wire.Answer
	if err := ssh.Unmarshal(ssh.Marshal(answerPayload{"x"}), &a); err != nil || a.Line != "x" {
		t.Errorf("answer %+v, %v", a, err)
	}
	var g progressPayload
	if err := ssh.Unmarshal(ssh.Marshal(wire.Progress{Text: "t", Done: 1, Total: 2}), &g); err != nil || g != (progressPayload{"t", 1, 2}) {
		t.Errorf("progress %+v, %v", g, err)
	}
	var rf readFilePayload
	if err := ssh.Unmarshal(ssh.Marshal(wire.ReadFile{Path: "/p", Offset: 7}), &rf); err != nil || rf != (readFilePayload{"/p", 7}) {
		t.Errorf("read %+v, %v", rf, err)
	}
	var wf writeFilePayload
	if err := ssh.Unmarshal(ssh.Marshal(wire.WriteFile{Path: "/p", Offset: 7, Data: "d"}), &wf); err != nil || wf != (writeFilePayload{"/p", 7, "d"}) {
		t.Errorf("write %+v, %v", wf, err)
	}
	var fc wire.FileContent
	if err := ssh.Unmarshal(ssh.Marshal(fileContentPayload{"d", "f"}), &fc); err != nil || fc != (wire.FileContent{Data: "d", Fault: "f"}) {
		t.Errorf("content %+v, %v", fc, err)
	}
	var fw wire.FileWritten
	if err := ssh.Unmarshal(ssh.Marshal(fileWrittenPayload{"f"}), &fw); err != nil || fw.Fault != "f" {
		t.Errorf("written %+v, %v", fw, err)
	}
	meanings := exit.Meanings()
	if len(meanings) != len(exitMeanings) {
		t.Fatalf("%d codes, the console has %d", len(exitMeanings), len(meanings))
	}
	for i, m := range meanings {
		if exitMeanings[i].code != int(m.Code) || exitMeanings[i].text != m.Text {
			t.Errorf("%v, the console has %v", exitMeanings[i], m)
		}
	}
}

func FuzzJoinWords(f *testing.F) {
	for _, w := range []string{"a b", "", "it's", "#x", `\|;"`, "a\nb"} {
		f.Add("feature:list", w)
	}
	f.Fuzz(func(t *testing.T, first, second string) {
		words := []string{first, second}
		l, err := syntax.Parse(joinWords(words))
		if len(first)+len(second) > syntax.MaxLine/8 {
			return
		}
		if err != nil || len(l) != 1 || len(l[0]) != 1 || !reflect.DeepEqual(l[0][0].Texts(), words) {
			t.Errorf("%q reads as %v, %v", words, l, err)
		}
	})
}
