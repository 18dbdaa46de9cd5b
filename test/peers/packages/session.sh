# What an ordinary user types after the package was installed in a fresh Debian; run by bash -ev, so that the log shows each line.
ctl --version
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
CTL_ADMIN_PASSWORD=admin ctld --home h --http 127.0.0.1:0 --ssh off --admin 127.0.0.1:0 >out 2>&1 &
until grep -q console: out; do kill -0 $!; sleep 0.1; done
cat out
export CTL_HOME=$PWD/h
ctl feature:install ctl-switch-all ctl-bier-all
ctl-lab --topology ring:4 --csv switches.csv --control lab.sock >lab 2>&1 &
until grep -q ready lab; do kill -0 $!; sleep 0.1; done
ctl switch:ReadDB "$PWD/switches.csv"
ctl switch:TopoDiscover
ctl switch:edges
ctl plugin:list
ctl get switches -o yaml | head -n 6
cat >lab.yaml <<'END'
topologies:
- topology-id: lab
  bier-domain: [{domain-id: 1, bier-sub-domain: [{sub-domain-id: 0}]}]
END
ctl apply -f lab.yaml --check || echo "exit code $?"
ctl apply -f lab.yaml
ctl apply -f lab.yaml --check
ctl bundle:list || echo "exit code $?"
ctl config:set limits.body 16MiB
ctl config:list limits
ctl shell:info | head -n 4
ctl __complete plugin:info sw
ctl system:dump report.zip
ctl 'log:display -n 2 --plugin switch'
ctl plugin new --kind switchdriver acme && ls acme
ctl doctor
# The documentation and the metrics, without curl.
get() { exec 4<>"/dev/tcp/127.0.0.1/${1##*:}"; printf 'GET %s HTTP/1.0\r\nAuthorization: Basic YWRtaW46YWRtaW4=\r\n\r\n' "$2" >&4; cat <&4; exec 4>&-; }
get "$(cat h/data/run/http.addr)" /docs/index.html | grep -o '<title>.*</title>'
get "$(cat h/data/run/http.addr)" /docs/tutorial-first-network.html | grep -c '<img'
get "$(cat h/data/run/admin.addr)" /metrics | grep '^ctl_plugin_up.*switch'
# Messages: every fault at once, with file, line and key.
cp -r h/etc wrong && printf 'limits:\n  body: much\nlgo: {}\n' >wrong/ctl.yaml && mkdir w && mv wrong w/etc
ctl --home w config validate || echo "exit code $?"
printf 'topology-id: a\nnode:\n- {node-id: r1}\n- {name: r2}\n' >net.yaml
ctl bier:topo-import "$PWD/net.yaml" || echo "exit code $?"
# At the console, in a terminal: Ctrl-R, Ctrl-R again, Ctrl-G, Enter; log:tail until Ctrl-C; Ctrl-D.
mkfifo typing
script -qfc ctl typed <typing >/dev/null &
exec 3<>typing
shown() { until grep -aqF "$1" typed 2>/dev/null; do kill -0 %3; sleep 0.1; done; }
shown 'local@ctl> '
printf 'plugin:list\rswitch:edges\rshell:info | grep Home\r' >&3; shown "$PWD/h"
printf '\022switch' >&3; shown '(reverse-i-search) switch: '
printf '\022\022' >&3; shown '(failed reverse-i-search) switch: '
printf '\007log:tail --plugin switch\r' >&3; shown 'log:tail --plugin switch'
ctl-lab link sw1 sw2 down --control lab.sock
ctl plugin:reload switch; shown '3 links between switches'
printf '\003\004' >&3
wait %3
exec 3>&-
tr -d '\r' <typed | sed 's/\x1b\[[0-9;?]*[A-Za-z]//g'
kill %1 %2
wait
