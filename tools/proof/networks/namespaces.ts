/**
 * An internet of network namespaces: a router in the middle, the server, one open network, and a network of each kind
 * behind a gateway of its own. Addresses are those reserved for documentation; nothing of it touches this machine's network.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { chmod, writeFile } from 'node:fs/promises';

export const HOST = 'calls.parley.test';
export const SERVER = { namespace: 'parley-server', ipv4: '203.0.113.10', ipv6: '2001:db8:ff::10' } as const;
const ROUTER = 'parley-router';
/** Where the second participant is, and the proof itself. */
export const OPEN = 'parley-open';

interface Kind {
  /** Rules of its gateway; without any the client is on the internet itself. */
  rules?: string;
  isIpv6?: boolean;
  /** A second gateway, for a client that moves there. */
  second?: true;
}

const NAT = 'chain out { type nat hook postrouting priority 100; oifname "wan" masquerade; }';
const refuse = (what: string): string =>
  `chain pass { type filter hook forward priority 0; iifname "lan*" ${what} drop; }`;

/** The networks by name: their namespace is `parley-<name>`. */
export const KINDS = {
  direct: {},
  nat: { rules: NAT },
  symmetric: { rules: NAT.replace('masquerade', 'masquerade fully-random') },
  noudp: { rules: `${NAT}\n${refuse('meta l4proto udp')}` },
  only443: {
    rules: `${NAT}\n${refuse('tcp dport != 443')}\n${refuse('meta l4proto != tcp').replace('pass', 'others')}`,
  },
  ipv6: { isIpv6: true },
  // What would pass goes to the process that delays and loses it (bad-path.ts).
  bad: {
    rules: `${NAT}\nchain in { type nat hook prerouting priority -100; iifname "lan" meta l4proto { tcp, udp } redirect; }`,
  },
  moving: { rules: NAT, second: true },
} as const satisfies Record<string, Kind>;

export type KindName = keyof typeof KINDS;
export const namespaceOf = (kind: KindName): string => `parley-${kind}`;
export const gatewayOf = (kind: KindName): string => `${namespaceOf(kind)}-gw`;

const ip = (...args: string[]): void => void execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'pipe'] });
const inside = (namespace: string, ...command: string[]): void =>
  void execFileSync('ip', ['netns', 'exec', namespace, ...command], { stdio: ['ignore', 'ignore', 'pipe'] });

/** A file that starts a program in a namespace, for a driver that wants the path of one. */
export async function writeLauncher(folder: string, namespace: string, command: string): Promise<string> {
  const launcher = `${folder}/browser`;
  await writeFile(launcher, `#!/bin/sh\nexec ip netns exec ${namespace} ${command} "$@"\n`);
  await chmod(launcher, 0o755);
  return launcher;
}

/** Why it cannot be built here, or null. */
export function missingTools(): string | null {
  if (process.getuid?.() !== 0) return 'network namespaces need root';
  for (const [tool, name] of [
    ['ip', 'iproute2'],
    ['nft', 'nftables'],
    ['openssl', 'openssl'],
    ['firefox-esr', 'firefox-esr'],
    ['certutil', 'libnss3-tools'],
  ] as const)
    if (!['/usr/sbin', '/usr/bin', '/sbin', '/bin'].some((folder) => existsSync(`${folder}/${tool}`)))
      return `${tool} is not installed: apt-get install ${name}`;
  return null;
}

function newNamespace(name: string): void {
  ip('netns', 'add', name);
  ip('-n', name, 'link', 'set', 'lo', 'up');
  mkdirSync(`/etc/netns/${name}`, { recursive: true });
  const names = [`127.0.0.1 localhost`, `${SERVER.ipv4} ${HOST}`, `${SERVER.ipv6} ${HOST}`];
  writeFileSync(`/etc/netns/${name}/hosts`, `${names.join('\n')}\n`);
  // No name server: the question is refused at once.
  writeFileSync(`/etc/netns/${name}/resolv.conf`, 'nameserver 127.0.0.1\n');
}

interface End {
  namespace: string;
  device: string;
  addresses: string[];
}

function join(a: End, b: End): void {
  ip('-n', a.namespace, 'link', 'add', a.device, 'type', 'veth', 'peer', b.device, 'netns', b.namespace);
  for (const { namespace, device, addresses } of [a, b]) {
    for (const address of addresses)
      ip('-n', namespace, 'address', 'add', address, 'dev', device, ...(address.includes(':') ? ['nodad'] : []));
    ip('-n', namespace, 'link', 'set', device, 'up');
  }
}

const routeVia = (namespace: string, ...gateways: string[]): void => {
  for (const gateway of gateways)
    ip('-n', namespace, ...(gateway.includes(':') ? ['-6'] : []), 'route', 'add', 'default', 'via', gateway);
};

function forwards(namespace: string): void {
  inside(namespace, 'sysctl', '-qw', 'net.ipv4.ip_forward=1', 'net.ipv6.conf.all.forwarding=1');
}

let links = 0;

/** Puts a namespace on the internet, with an address of each family or of one. */
function attach(namespace: string, device: string, families: readonly (4 | 6)[] = [4, 6]): void {
  const link = ++links;
  const [v4, v6] = [`198.51.100.${link * 4}`, `2001:db8:${link}::`];
  const side = (host: number): string[] => [
    ...(families.includes(4) ? [`198.51.100.${link * 4 + host}/30`] : []),
    ...(families.includes(6) ? [`${v6}${host}/64`] : []),
  ];
  join({ namespace: ROUTER, device: `link${link}`, addresses: side(1) }, { namespace, device, addresses: side(2) });
  if (families.includes(4)) routeVia(namespace, v4.replace(/\d+$/, String(link * 4 + 1)));
  if (families.includes(6)) routeVia(namespace, `${v6}1`);
}

/** A gateway with its rules, and the client's device behind it. */
function putBehind(
  gateway: string,
  rules: string,
  client: { namespace: string; device: string },
  subnet: string,
): void {
  newNamespace(gateway);
  attach(gateway, 'wan', [4]);
  forwards(gateway);
  inside(gateway, 'nft', `table ip proof {\n${rules}\n}`);
  join(
    { namespace: gateway, device: 'lan', addresses: [`${subnet}.1/24`] },
    { ...client, addresses: [`${subnet}.2/24`] },
  );
}

export function buildNetworks(): void {
  for (const name of [ROUTER, SERVER.namespace, OPEN]) newNamespace(name);
  forwards(ROUTER);
  join(
    { namespace: ROUTER, device: 'server', addresses: ['203.0.113.1/24', '2001:db8:ff::1/64'] },
    {
      namespace: SERVER.namespace,
      device: 'eth0',
      addresses: [`${SERVER.ipv4}/24`, `${SERVER.ipv6}/64`],
    },
  );
  routeVia(SERVER.namespace, '203.0.113.1', '2001:db8:ff::1');
  attach(OPEN, 'eth0');
  for (const [index, [name, kind]] of Object.entries<Kind>(KINDS).entries()) buildKind(name as KindName, kind, index);
}

function buildKind(name: KindName, { rules, isIpv6, second }: Kind, index: number): void {
  const namespace = namespaceOf(name);
  newNamespace(namespace);
  if (rules === undefined) {
    attach(namespace, 'eth0', isIpv6 ? [6] : [4, 6]);
    return;
  }
  const subnet = `192.168.${index + 1}`;
  putBehind(gatewayOf(name), rules, { namespace, device: 'wlan0' }, subnet);
  routeVia(namespace, `${subnet}.1`);
  if (!second) return;
  putBehind(`${gatewayOf(name)}2`, rules, { namespace, device: 'wwan0' }, `10.64.${index + 1}`);
  ip('-n', namespace, 'link', 'set', 'wwan0', 'down');
}

/** The client leaves one network and gets an address in the other, as a telephone that walks out of the Wi-Fi. */
export function moveClient(kind: KindName, from: 'wlan0' | 'wwan0'): void {
  const namespace = namespaceOf(kind);
  const [to, prefix] = from === 'wlan0' ? ['wwan0', '10.64'] : ['wlan0', '192.168'];
  const subnet = `${prefix}.${Object.keys(KINDS).indexOf(kind) + 1}`;
  ip('-n', namespace, 'address', 'flush', 'dev', from);
  ip('-n', namespace, 'link', 'set', from, 'down');
  ip('-n', namespace, 'address', 'replace', `${subnet}.2/24`, 'dev', to);
  ip('-n', namespace, 'link', 'set', to, 'up');
  routeVia(namespace, `${subnet}.1`);
}

/** Ends what still runs in a namespace, this process excepted. */
function endProcesses(namespace: string): void {
  const pids = execFileSync('ip', ['netns', 'pids', namespace], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .filter(Boolean);
  for (const pid of pids.map(Number).filter((one) => one !== process.pid))
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
}

/** Everything that a run made, also one that was killed. */
export function removeNetworks(): void {
  const left = existsSync('/run/netns') ? readdirSync('/run/netns') : [];
  for (const name of left.filter((one) => one.startsWith('parley-'))) {
    endProcesses(name);
    ip('netns', 'delete', name);
  }
  if (!existsSync('/etc/netns')) return;
  for (const name of readdirSync('/etc/netns').filter((one) => one.startsWith('parley-')))
    rmSync(`/etc/netns/${name}`, { recursive: true });
  if (readdirSync('/etc/netns').length === 0) rmdirSync('/etc/netns');
}
