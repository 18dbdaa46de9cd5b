// What every plugin of the controller does, in JavaScript, without its SDK: handshake, mutual TLS,
// base service, faults, end of the process. docs/plugin-author.md has the contract.
'use strict';
const { execFileSync } = require('child_process');
const fs = require('fs');
const path = require('path');
const grpc = require('@grpc/grpc-js');
const protoLoader = require('@grpc/proto-loader');

const API = '1.0';
const [INTERNAL, INVALID, NOT_FOUND, EXISTS, DENIED, IN_USE, UNAVAILABLE, TIMEOUT, DOWNSTREAM, UNSUPPORTED, MISSING] = Array(11).keys();
const S = grpc.status;
const CODES = [S.INTERNAL, S.INVALID_ARGUMENT, S.NOT_FOUND, S.ALREADY_EXISTS, S.PERMISSION_DENIED, S.FAILED_PRECONDITION,
  S.UNAVAILABLE, S.DEADLINE_EXCEEDED, S.ABORTED, S.UNIMPLEMENTED, S.INVALID_ARGUMENT];

// Fault keeps its meaning on the way to the user. device: it is the switch's.
class Fault extends Error {
  constructor(kind, text, where = '', device = false) {
    super(text);
    Object.assign(this, { kind, where, device });
  }
}

// Octets of a protobuf message, for the two that are needed without stubs.
const varint = (n) => { const out = []; for (; n > 127; n = Math.floor(n / 128)) out.push(n % 128 | 128); return [...out, n]; };
const number = (field, n) => (n ? [field << 3, ...varint(n)] : []);
const bytes = (field, b) => (b.length ? [field << 3 | 2, ...varint(b.length), ...b] : []);
const text = (field, s) => bytes(field, [...Buffer.from(s)]);

function status(err) {
  const f = err instanceof Fault ? err : new Fault(INTERNAL, 'a defect of the plugin: ' + err.name);
  if (f !== err) log('error', 'a call failed', { error: String(err.stack) });
  const fault = [...number(1, f.kind), ...text(2, f.message), ...text(3, f.where), ...number(4, f.device ? 1 : 0)];
  const any = [...text(1, 'type.googleapis.com/ctl.plugin.v1.Faults'), ...bytes(2, bytes(1, fault))];
  const metadata = new grpc.Metadata();
  metadata.set('grpc-status-details-bin', Buffer.from([...number(1, CODES[f.kind]), ...text(2, f.message), ...bytes(3, any)]));
  return { code: CODES[f.kind], details: f.message, metadata };
}

// log writes one line of the controller's log. Never put a secret into it.
function log(level, message, fields = {}) {
  process.stderr.write(JSON.stringify({ '@level': level, '@message': message, ...fields }) + '\n');
}

// unary makes a method of an async function that answers, or throws a Fault.
const unary = (handle) => (call, done) => {
  Promise.resolve().then(() => handle(call.request, call)).then((reply) => done(null, reply), (err) => done(status(err)));
};

function load(protos, file) {
  return grpc.loadPackageDefinition(protoLoader.loadSync(file, { keepCase: true, longs: String, defaults: true, includeDirs: [protos] }));
}

function credentials() {
  const client = process.env.PLUGIN_CLIENT_CERT;
  if (!client) return { creds: grpc.ServerCredentials.createInsecure(), der: '' }; // a socket that only the host may reach
  const pem = execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '3650',
    '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost', '-keyout', '-'], { stdio: ['ignore', 'pipe', 'ignore'], timeout: 30000 }).toString();
  const part = (kind) => pem.match(new RegExp(`-----BEGIN ${kind}-----([^-]+)-----END ${kind}-----\n`));
  const [key, cert] = [part('PRIVATE KEY'), part('CERTIFICATE')];
  const creds = grpc.ServerCredentials.createSsl(Buffer.from(client), [{ private_key: Buffer.from(key[0]), cert_chain: Buffer.from(cert[0]) }], true);
  return { creds, der: cert[1].replace(/\s/g, '').replace(/=+$/, '') };
}

// serve runs the plugin. manifest is that of base.proto; services(protos) are [definition, methods].
function serve(manifest, schema, configure, services) {
  if (process.argv[2] === 'describe') {
    console.log(JSON.stringify({ ...manifest, config_schema: Buffer.from(JSON.stringify(schema)).toString('base64') }, null, 2));
    return;
  }
  if (process.env.CTL_PLUGIN !== 'ctl.plugin.v1') {
    console.error(`${manifest.name} is a plugin: ctld starts it when its feature is installed.\nRun it with \`describe\` to see what it serves.`);
    process.exitCode = 2;
    return;
  }
  for (const s of ['SIGINT', 'SIGTERM']) process.on(s, () => {}); // the host stops its plugins itself
  const protos = process.env.CTL_PROTO || path.join(__dirname, '../../proto');
  const server = new grpc.Server({ 'grpc.max_receive_message_length': 64 << 20, 'grpc.max_send_message_length': 64 << 20 });
  let configured = false;
  const watching = new Set();
  const stop = () => { for (const call of watching) call.end(); watching.clear(); };
  server.addService(load(protos, 'ctl/plugin/v1/base.proto').ctl.plugin.v1.Base.service, {
    Describe: unary(() => ({ manifest: { ...manifest, config_schema: Buffer.from(JSON.stringify(schema)) } })),
    Configure: unary((request) => {
      if (request.api_version !== API) throw new Fault(UNSUPPORTED, `the plugin speaks version ${API} of the contract, not ${request.api_version}`);
      const settings = JSON.parse(request.config.toString() || '{}');
      const unknown = Object.keys(settings).filter((k) => !(k in schema.properties));
      if (unknown.length) throw new Fault(INVALID, 'unknown setting ' + unknown.join(', '));
      if (configured) throw new Fault(IN_USE, 'the plugin is configured already');
      configure(settings);
      configured = true;
      return {};
    }),
    Health: (call) => {
      watching.add(call);
      call.on('cancelled', () => watching.delete(call));
      call.write({ state: 'STATE_HEALTHY' });
    },
    Stop: unary(() => { setImmediate(stop); return {}; }),
  });
  const raw = (p, handle) => ({ service: { call: { path: p, requestStream: false, responseStream: false, requestSerialize: (b) => b,
    requestDeserialize: (b) => b, responseSerialize: (b) => b, responseDeserialize: (b) => b } }, handlers: { call: unary(handle) } });
  const end = () => { stop(); server.tryShutdown(() => process.exit(0)); setTimeout(() => process.exit(0), 500); };
  for (const r of [raw('/grpc.health.v1.Health/Check', () => Buffer.from([8, 1])),
    raw('/plugin.GRPCController/Shutdown', () => { setImmediate(end); return Buffer.alloc(0); })]) server.addService(r.service, r.handlers);
  for (const [service, methods] of services((file) => load(protos, file))) server.addService(service, methods);

  const { creds, der } = credentials();
  const socket = path.join(process.env.PLUGIN_UNIX_SOCKET_DIR || process.cwd(), `plugin-${process.pid}.sock`);
  server.bindAsync('unix:' + socket, creds, (err) => {
    if (err) throw err;
    fs.writeSync(1, `1|1|unix|${socket}|grpc|${der}\n`);
  });
  const parent = Number(process.env.CTL_HOST_PID || 0);
  setInterval(() => { if (parent && process.ppid !== parent) end(); }, 1000).unref(); // the host has died without a word
}

module.exports = { INTERNAL, INVALID, NOT_FOUND, EXISTS, DENIED, IN_USE, UNAVAILABLE, TIMEOUT, DOWNSTREAM, UNSUPPORTED, MISSING, Fault, log, serve, unary };
