// A driver for the switches of package sdk/plugintest/simline: ports, their settings, and VLANs.
'use strict';
const net = require('net');
const { DOWNSTREAM, EXISTS, INVALID, MISSING, NOT_FOUND, TIMEOUT, UNAVAILABLE, UNSUPPORTED, Fault, serve, unary } = require('./ctlplugin.js');

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

  // settings are those of a port, or of all with 0.
  async settings(port) {
    const rows = await this.table('show descriptions', /^port (\d{1,5}) description (.*)$/);
    const descriptions = new Map(rows.map((m) => [Number(m[1]), m[2]]));
    const ports = (await this.ports()).filter((p) => port === 0 || p.number === port);
    if (!ports.length) throw new Fault(NOT_FOUND, `switch ${label(this.sw)} has no port ${port}`, 'port');
    return ports.map((p) => ({ port: p.number, up: p.admin_status === 1, description: descriptions.get(p.number) ?? '' }));
  }

  // sendSettings sends what differs; the state last.
  async sendSettings(have, want) {
    if (given(want, 'description') && want.description !== have.description) await this.ask(`set port ${want.port} description ${want.description}`);
    if (given(want, 'up') && want.up !== have.up) await this.ask(`set port ${want.port} admin ${want.up ? 'up' : 'down'}`);
  }

  // changeSettings changes the settings of a port, reads back, and takes back what failed.
  async changeSettings(before, want) {
    try {
      await this.sendSettings(before, want);
      const [now] = await this.settings(want.port);
      if (['up', 'description'].some((f) => given(want, f) && want[f] !== now[f])) throw device(DOWNSTREAM, this.sw, 'it accepted the settings but does not show them');
    } catch (cause) {
      await this.takeBack(cause, async (other) => other.sendSettings((await other.settings(want.port))[0], before));
      throw cause;
    }
  }

  // takeBack restores what was before in another session: the switch may have ended this one.
  async takeBack(cause, restore) {
    try {
      const other = await this.again();
      await restore(other).finally(() => other.close());
    } catch (e) {
      throw new Fault(cause.kind ?? DOWNSTREAM, `${cause.message}; what it did of the change could not be taken back: ${e.message}`, '', true);
    }
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
      await this.takeBack(cause, async (other) => other.send(await other.vlans(), before));
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

// The fields of settings; those of the second line are not of this switch, those of the third can only be read.
const OWN = ['up', 'description'];
const OTHERS = ['power', 'power_priority', 'power_limit', 'speed', 'duplex'];
const READ_ONLY = ['power_status', 'power_class', 'power_drawn', 'link_speed', 'link_duplex', 'flow_control'];
const SPEEDS = [0, 10, 100, 1000, 2500, 5000, 10000, 25000, 40000, 50000, 100000, 200000, 400000];

// given reports whether an optional field was sent: one that was not has no default.
const given = (s, field) => s[field] !== undefined;

// checkSettings refuses what no port can have, then what this switch does not have, before anything is sent.
function checkSettings(s) {
  if (!s || ![...OWN, ...OTHERS].some((f) => given(s, f))) throw new Fault(MISSING, 'the call has no settings', 'settings');
  const refuse = (asked, path, text) => { if (asked) throw new Fault(INVALID, text, path); };
  refuse(!(s.port >= 1 && s.port <= 65535), 'port', `${s.port} is not the number of a port`);
  refuse(given(s, 'description') && !(/^[ -~]{0,64}$/.test(s.description) && !s.description.includes('\n')), 'description', 'not a description of up to 64 printable ASCII characters');
  refuse(given(s, 'power_priority') && !(s.power_priority >= 1 && s.power_priority <= 3), 'power-priority', 'not a priority, 1 to 3');
  refuse(given(s, 'power_limit') && !(s.power_limit >= 1 && s.power_limit <= 99900), 'power-limit', 'not a limit in milliwatts');
  const speed = given(s, 'speed') ? s.speed : 0;
  const duplex = given(s, 'duplex') ? s.duplex : 0;
  refuse(!SPEEDS.includes(speed), 'speed', `${speed} is not a speed in Mbit/s`);
  refuse(duplex > 2 || (duplex && !speed) || (duplex === 1 && speed > 100), 'duplex', `${duplex} is not a duplex mode at ${speed} Mbit/s`);
  refuse(READ_ONLY.some((f) => given(s, f)), 'settings', 'the state of the link and of the power can only be read');
  for (const f of OTHERS) if (given(s, f)) throw new Fault(UNSUPPORTED, `switches of this make have no ${f} that can be set`, f.replace('_', '-'));
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
  DescribeDriver: unary(() => ({ name: NAME, models: [NAME], operations: ['ReadPortSettings', 'WritePortSettings', 'ReadVlans', 'WriteVlan', 'DeleteVlan', 'ReadPorts'] })),
  ReadPorts: unary((_, call) => session(call, () => {}, async (s) => ({ ports: await s.ports() }))),
  ReadPortSettings: unary((request, call) => session(call, () => {}, async (s) => ({ ports: await s.settings(request.port) }))),
  WritePortSettings: unary((request, call) => session(call, () => checkSettings(request.settings), async (s) => {
    const [before] = await s.settings(request.settings.port);
    await s.changeSettings(before, request.settings);
    return {};
  })),
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
