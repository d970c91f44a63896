// Starts the emulated GitHub on 127.0.0.1: node emulator.mjs PORT WEBHOOK_URL KEY_FILE MODULES
// Writes the App's fresh private key to KEY_FILE and prints "up" when it listens.
import { generateKeyPairSync } from 'node:crypto';
import fs from 'node:fs';
import net from 'node:net';
import { createRequire } from 'node:module';
import path from 'node:path';

const [port, webhookUrl, keyFile, modules] = process.argv.slice(2);

// The emulator binds every interface by itself; nothing of a test may be reachable from outside.
const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (first, ...rest) {
  if (first !== null && typeof first === 'object' && first.port !== undefined) {
    return listen.call(this, { ...first, host: '127.0.0.1' }, ...rest);
  }
  if (typeof rest[0] === 'string') rest.shift();
  return listen.call(this, first, '127.0.0.1', ...rest);
};

const require = createRequire(path.join(modules, 'package.json'));
const { createEmulator } = await import(path.join(modules, 'node_modules/emulate/dist/api.js'));
const yaml = require('yaml');

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
});
fs.writeFileSync(keyFile, privateKey, { mode: 0o600 });
const seed = yaml.parse(fs.readFileSync(new URL('seed.yaml', import.meta.url), 'utf8'));
Object.assign(seed.github.apps[0], { private_key: privateKey, webhook_url: webhookUrl });
const emulator = await createEmulator({ service: 'github', port: Number(port), seed });
console.log('up', emulator.url);
process.on('SIGTERM', () => emulator.close().then(() => process.exit(0)));
