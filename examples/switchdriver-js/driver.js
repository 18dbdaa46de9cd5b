// A driver for the switches of package sdk/plugintest/simline: ports and VLANs.
'use strict';
const net = require('net');
const { DOWNSTREAM, EXISTS, INVALID, MISSING, NOT_FOUND, TIMEOUT, UNAVAILABLE, Fault, serve, unary } = require('./ctlplugin.js');

const NAME = 'switchdriver-js';
const MAX_ANSWER = 1e6;
const settings = { port: 2323, timeout: 10 };

const label = (sw) => `${BigInt(sw.node_id).toString(16).padStart(12, '0').match(/../g).join(':')} (${sw.address})`;
const device = (kind, sw, text) => new Fault(kind, `switch ${label(sw)}: ${text}`, '', true);

// Session is a login at a switch. It ends with the call: at its deadline, or when it is cancelled.
class Session {
  static async open(sw, call, until) {
    const s = new Session();
    Object.assign(s, { sw, call, until, buffer: '', lines: [], waiting: null, ended: null });
    s.socket = net.connect({ host: sw.address, port: sw.cli?.port || settings.port });
    s.socket.setEncoding('latin1');
    s.socket.on('data', (d) => s.take(d));
    s.socket.on('error', (e) => s.end(device(e.code === 'ECONNREFUSED' ? UNAVAILABLE : DOWNSTREAM, sw, e.code || e.message)));
    s.socket.on('close', () => s.end(device(DOWNSTREAM, sw, 'it hung up')));
    s.cancel = () => s.end(device(TIMEOUT, sw, 'the call was given up'));
    call.on('cancelled', s.cancel);
    s.timer = setTimeout(() => s.end(device(TIMEOUT, sw, 'no answer in time')), Math.max(0, until - Date.now()));
    if (call.cancelled) s.cancel();
    try {
      if (await s.line() !== 'ready') throw device(DOWNSTREAM, sw, 'it is not of this make');
      const { user = '', password = '' } = sw.cli || {};
      if (/[ \r\n]/.test(user + password)) throw new Fault(INVALID, `the user or password of switch ${label(sw)} in the switch list holds a blank`);
      await s.ask(`login ${user} ${password}`, 'it refuses the login in the switch list');
      return s;
    } catch (e) {
      s.close();
      throw e;
    }
  }

  again() { return Session.open(this.sw, this.call, this.until); }

  take(data) {
    this.buffer += data;
    const lines = this.buffer.split('\n');
    this.buffer = lines.pop();
    this.lines.push(...lines);
    if (this.buffer.length > MAX_ANSWER || this.lines.length > MAX_ANSWER / 10) this.end(device(DOWNSTREAM, this.sw, 'it says too much'));
    this.wake();
  }

  end(why) {
    this.ended ||= why;
    this.close();
    this.wake();
  }

  close() {
    clearTimeout(this.timer);
    this.call.off('cancelled', this.cancel);
    this.socket.destroy();
  }

  wake() {
    if (!this.waiting || (!this.lines.length && !this.ended)) return;
    const { resolve, reject } = this.waiting;
    this.waiting = null;
    if (this.lines.length) resolve(this.lines.shift());
    else reject(this.ended);
  }

  line() { return new Promise((resolve, reject) => { this.waiting = { resolve, reject }; this.wake(); }); }

  // ask sends one command and returns the lines of the answer.
  async ask(command, refused) {
    if (this.ended) throw this.ended;
    this.socket.write(command + '\n');
    for (const out = []; ;) {
      const line = await this.line();
      if (line === 'ok') return out;
      if (line.startsWith('error ')) throw device(DOWNSTREAM, this.sw, refused || 'it refuses: ' + line.slice(6, 200));
      out.push(line);
    }
  }

  async table(command, form) {
    return (await this.ask(command)).map((line) => {
      const m = form.exec(line);
      if (!m) throw device(DOWNSTREAM, this.sw, 'its answer is not understood');
      return m;
    });
  }

  async ports() {
    const status = { up: 1, down: 2 };
    const rows = await this.table('show ports', /^port (\d{1,5}) admin (up|down) link (up|down) name (.*)$/);
    return rows.map((m) => ({ number: Number(m[1]), name: m[4], admin_status: status[m[2]], oper_status: status[m[3]] }));
  }

  // vlans are the VLANs by id: name, tagged and untagged ports.
  async vlans() {
    const list = (s) => new Set(s.split(',').filter((p) => /^\d+$/.test(p)).map(Number));
    const rows = await this.table('show vlans', /^vlan (\d{1,4}) tagged (-|[\d,]+) untagged (-|[\d,]+) name (.*)$/);
    return new Map(rows.map((m) => [Number(m[1]), { name: m[4], tagged: list(m[2]), untagged: list(m[3]) }]));
  }

  async send(have, want) {
    for (const [id, v] of [...want].sort((a, b) => a[0] - b[0])) {
      if (write(id, v) !== write(id, have.get(id))) await this.ask(write(id, v));
    }
    for (const id of have.keys()) if (!want.has(id)) await this.ask(`unset vlan ${id}`);
  }

  // change makes the VLANs those of want, reads back, and takes back what failed.
  async change(before, want) {
    try {
      await this.send(before, want);
      const now = await this.vlans();
      if (all(now) !== all(want)) throw device(DOWNSTREAM, this.sw, 'it accepted the change but does not show it');
      return now;
    } catch (cause) {
      try {
        const other = await this.again(); // the switch may have ended this session
        await other.send(await other.vlans(), before).finally(() => other.close());
      } catch (e) {
        throw new Fault(cause.kind ?? DOWNSTREAM, `${cause.message}; what it did of the change could not be taken back: ${e.message}`, '', true);
      }
      throw cause;
    }
  }
}

const text = (ports) => [...ports].sort((a, b) => a - b).join(',') || '-';
const write = (id, v) => v && `set vlan ${id} tagged ${text(v.tagged)} untagged ${text(v.untagged)} name ${v.name}`;
const all = (vlans) => [...vlans].map(([id, v]) => write(id, v)).sort().join('\n');
const message = (id, v) => ({ vlan_id: id, name: v.name, egress_ports: [...v.tagged, ...v.untagged].sort((a, b) => a - b), untagged_ports: [...v.untagged].sort((a, b) => a - b) });
const without = (set, gone) => new Set([...set].filter((p) => !gone.has(p)));

// home brings ports that have lost their untagged VLAN back to VLAN 1.
function home(before, after) {
  const still = new Set([...after.values()].flatMap((v) => [...v.untagged]));
  const lost = [...before.values()].flatMap((v) => [...v.untagged]).filter((p) => !still.has(p));
  const first = after.get(1);
  if (first && lost.length) after.set(1, { ...first, untagged: new Set([...first.untagged, ...lost]) });
  return after;
}

function checkID(id) {
  if (!(id >= 1 && id <= 4094)) throw new Fault(INVALID, `${id} is no VLAN id, 1 to 4094`, 'vlan-id');
}

function checkVLAN(v) {
  if (!v) throw new Fault(MISSING, 'the call names no VLAN', 'vlan');
  checkID(v.vlan_id);
  if (!/^[ -~]{0,32}$/.test(v.name) || v.name.includes('\n') || v.name !== v.name.trim()) throw new Fault(INVALID, 'no name of a VLAN, up to 32 printable ASCII characters', 'vlan-name');
  if (v.untagged_ports.some((p) => !v.egress_ports.includes(p))) throw new Fault(INVALID, 'an untagged port is no egress port of the VLAN', 'untagged-ports');
}

const turns = new Map(); // the last call of each switch

// session runs work at the switch of a call, one at a time.
async function session(call, check, work) {
  const sw = call.request.switch;
  if (!sw?.address) throw new Fault(MISSING, 'the call names no switch with an address', 'switch/address');
  if (!net.isIP(sw.address)) throw new Fault(INVALID, 'the address of the switch is no IP address', 'switch/address');
  check();
  const until = Math.min(Date.now() + settings.timeout * 1000, Number(call.getDeadline()));
  const key = label(sw) + sw.cli?.port;
  const before = turns.get(key) || Promise.resolve();
  let done;
  const mine = new Promise((resolve) => { done = resolve; });
  const last = before.then(() => mine);
  turns.set(key, last);
  last.then(() => turns.get(key) === last && turns.delete(key));
  try {
    let stop;
    const over = new Promise((_, reject) => {
      const busy = () => reject(new Fault(TIMEOUT, `switch ${label(sw)} is busy with other changes`));
      const timer = setTimeout(busy, Math.max(0, until - Date.now()));
      call.on('cancelled', busy);
      stop = () => { clearTimeout(timer); call.off('cancelled', busy); };
    });
    await Promise.race([before, over]).finally(stop);
    const s = await Session.open(sw, call, until);
    return await work(s).finally(() => s.close());
  } finally {
    done();
  }
}

const methods = {
  DescribeDriver: unary(() => ({ name: NAME, models: [NAME], operations: ['ReadVlans', 'WriteVlan', 'DeleteVlan', 'ReadPorts'] })),
  ReadPorts: unary((_, call) => session(call, () => {}, async (s) => ({ ports: await s.ports() }))),
  ReadVlans: unary((_, call) => session(call, () => {}, async (s) => ({ vlans: [...await s.vlans()].map(([id, v]) => message(id, v)) }))),
  WriteVlan: unary((request, call) => session(call, () => checkVLAN(request.vlan), async (s) => {
    const v = request.vlan;
    const known = new Set((await s.ports()).map((p) => p.number));
    if (v.egress_ports.some((p) => !known.has(p))) throw new Fault(INVALID, 'the switch has no such port', 'egress-ports');
    const before = await s.vlans();
    const old = before.get(v.vlan_id);
    if (old && request.create) throw new Fault(EXISTS, `VLAN ${v.vlan_id} exists on switch ${label(s.sw)}`, 'vlan-id');
    if (!old && !request.create) throw new Fault(NOT_FOUND, `switch ${label(s.sw)} has no VLAN ${v.vlan_id}`, 'vlan-id');
    const want = new Map(before);
    let next = { ...(old || { name: '', tagged: new Set(), untagged: new Set() }) };
    if (request.set_ports) {
      const untagged = new Set(v.untagged_ports);
      for (const [id, w] of before) want.set(id, { ...w, untagged: without(w.untagged, untagged) }); // a port is untagged in one VLAN
      next = { ...next, untagged, tagged: without(new Set(v.egress_ports), untagged) };
    }
    want.set(v.vlan_id, { ...next, name: v.name || next.name });
    const after = await s.change(before, home(before, want));
    return { vlan: message(v.vlan_id, after.get(v.vlan_id)) };
  })),
  DeleteVlan: unary((request, call) => {
    const id = request.vlan_id;
    const check = () => { checkID(id); if (id === 1) throw new Fault(INVALID, 'VLAN 1 is the default VLAN and cannot be removed', 'vlan-id'); };
    return session(call, check, async (s) => {
      const before = await s.vlans();
      if (!before.has(id)) throw new Fault(NOT_FOUND, `switch ${label(s.sw)} has no VLAN ${id}`, 'vlan-id');
      const want = new Map(before);
      want.delete(id);
      await s.change(before, home(before, want));
      return {};
    });
  }),
};

serve({ name: NAME, version: '0.1.0', summary: 'Driver for the switches of package simline, in JavaScript', api_versions: ['1.0'], capabilities: ['switchdriver'] },
  { type: 'object', additionalProperties: false, properties: {
    port: { type: 'integer', minimum: 1, maximum: 65535, default: 2323, description: "of the switches' command line, TCP" },
    timeout: { type: 'number', exclusiveMinimum: 0, default: 10, description: 'seconds for one operation at a switch' } } },
  (s) => Object.assign(settings, s),
  (load) => {
    const { service } = load('ctl/plugin/v1/switchdriver.proto').ctl.plugin.v1.SwitchDriver;
    return [[service, methods]]; // what is not announced is answered with UNIMPLEMENTED
  });
