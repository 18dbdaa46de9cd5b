# Ten operations by the client that openapi-generator generated. Arguments: the address, then the names of its methods.
import sys

import ctlclient

url = sys.argv[1]
names = dict(a.split("=", 1) for a in sys.argv[2:])
c = ctlclient.ApiClient(ctlclient.Configuration(host=url, username="admin", password="admin"))
data, system = ctlclient.NetworkTopologyApi(c), ctlclient.CtlSystemApi(c)


def call(what, want, *args, api=data):
    method = getattr(api, names[what] + "_with_http_info")
    try:
        answer = method(*args)
    except ctlclient.ApiException as e:
        assert e.status == want, (what, e.status, e.body)
        return e
    assert answer.status_code == want, (what, answer.status_code, answer.raw_data)
    print(what, want)
    return answer.data.to_dict() if answer.data else None


topology = {"network-topology:topology": [{"topology-id": "py"}]}
node = {"network-topology:node": [{"node-id": "a/b,c"}]}
call("PUT topology", 201, "py", topology)
assert call("GET topology", 200, "py")["network-topology:topology"][0]["topology-id"] == "py"
call("PATCH topology", 204, "py", topology)
call("PUT node", 201, "py", "a/b,c", node)
assert call("GET node", 200, "py", "a/b,c")["network-topology:node"][0]["node-id"] == "a/b,c"
call("POST topology", 201, "py", {"network-topology:node": [{"node-id": "second"}]})
assert len(call("GET nodes", 200, "py")["network-topology:node"]) == 2
call("DELETE node", 204, "py", "a/b,c")
call("GET node", 404, "py", "a/b,c")
call("POST show", 200, {"ctl-system:input": {"command": "feature:list"}}, api=system)
call("DELETE topology", 204, "py")
