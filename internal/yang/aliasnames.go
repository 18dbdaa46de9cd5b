package yang

import "slices"

// Names returns the other names of a module, sorted.
func (x *AliasIndex) Names(module string) []string {
	if x == nil {
		return nil
	}
	return keysOf(x.modules, module, "")
}

// RPCNames returns the other names of an rpc of a module, sorted, without the module.
func (x *AliasIndex) RPCNames(module, rpc string) []string {
	if x == nil {
		return nil
	}
	return keysOf(x.rpcs, rpc, module+":")
}

// keysOf lists the keys with a prefix that have a value, without the prefix.
func keysOf(m map[string]string, value, prefix string) []string {
	var out []string
	for k, v := range m {
		if v == value && len(k) > len(prefix) && k[:len(prefix)] == prefix {
			out = append(out, k[len(prefix):])
		}
	}
	slices.Sort(out)
	return out
}
