# What an ordinary user types after the package was installed in a fresh Debian; run by bash -ev, so that the log shows each line.
ctl --version
ctld --home h --http 127.0.0.1:0 --ssh off --admin 127.0.0.1:0 >out 2>&1 &
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
kill %1 %2
wait
