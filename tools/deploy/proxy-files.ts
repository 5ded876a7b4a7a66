/** The shipped configurations of Caddy and nginx, made to run on this machine: other ports and another name, no other lines. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const deploy = join(import.meta.dirname, '..', '..', 'deploy');

interface Place {
  /** An empty folder for what the program writes. */
  folder: string;
  httpPort: number;
  httpsPort: number;
  upstream: string;
}

export interface ProxyCommand {
  program: string;
  /** Looks at the configuration and ends. */
  check: string[];
  /** Runs in the foreground. */
  run: string[];
  env: Record<string, string>;
}

/** What the program says of its version, or null where it is not installed. */
export function versionOf(program: string, option: string): string | null {
  const { error, stdout, stderr } = spawnSync(program, [option], { encoding: 'utf8' });
  return error ? null : `${stdout}${stderr}`.trim();
}

/** Caddy signs for `localhost` itself; `stream_close_delay` is known from 2.7 on, and Debian's is older. */
export function prepareCaddy({ folder, httpPort, httpsPort, upstream }: Place): ProxyCommand {
  const isOld = /^v?2\.[0-6]\./.test(versionOf('caddy', 'version') ?? '');
  const shipped = readFileSync(join(deploy, 'compose/Caddyfile'), 'utf8');
  const config = join(folder, 'Caddyfile');
  const global = `{\n\tadmin off\n\tskip_install_trust\n\thttp_port ${httpPort}\n\thttps_port ${httpsPort}\n}\n`;
  writeFileSync(config, `${global}${isOld ? shipped.replace(/^\s*stream_close_delay .*\n/m, '') : shipped}`);
  const given = ['--config', config, '--adapter', 'caddyfile'];
  const env = { DOMAIN: 'localhost', UPSTREAM: upstream, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder, HOME: folder };
  return { program: 'caddy', check: ['validate', ...given], run: ['run', ...given], env };
}

/** The authority with which Caddy signs, once it has run. */
export const caddyAuthority = (folder: string): string => join(folder, 'caddy/pki/authorities/local/root.crt');

interface Identity {
  key: string;
  cert: string;
}

export function prepareNginx({ folder, httpPort, httpsPort, upstream }: Place, { key, cert }: Identity): ProxyCommand {
  const live = join(folder, 'live');
  mkdirSync(live);
  writeFileSync(join(live, 'privkey.pem'), key);
  writeFileSync(join(live, 'fullchain.pem'), cert);
  const site = readFileSync(join(deploy, 'nginx/parley.conf'), 'utf8')
    .replaceAll('/etc/letsencrypt/live/calls.example.com', live)
    .replaceAll('calls.example.com', 'localhost')
    .replace('listen 80;', `listen 127.0.0.1:${httpPort};`)
    .replace('listen 443 ssl;', `listen 127.0.0.1:${httpsPort} ssl;`)
    .replace('127.0.0.1:4000', upstream);
  writeFileSync(join(folder, 'site.conf'), site);
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const paths = kinds.map((kind) => `${kind}_temp_path ${join(folder, kind)};`).join(' ');
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  const main = `${user} daemon off; pid ${join(folder, 'pid')}; error_log stderr; events {}
http { access_log off; ${paths} include ${join(folder, 'site.conf')}; }\n`;
  writeFileSync(join(folder, 'nginx.conf'), main);
  const given = ['-c', join(folder, 'nginx.conf'), '-e', 'stderr'];
  return { program: 'nginx', check: ['-t', ...given], run: given, env: {} };
}
