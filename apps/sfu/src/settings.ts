import { type About, mapped, type SettingRow, setting, text } from '@parley/contract/settings';
import { defaultNodeName } from './node-name.ts';
import {
  anyText,
  host,
  matching,
  orOff,
  type PublicAddresses,
  plainUrl,
  publicAddresses,
  stunServer,
  wholeNumber,
} from './setting-kinds.ts';

export const loopback = '127.0.0.1';
/** Names that collide with routes of the fleet (S55). */
const reservedNames = ['metrics', 'register'];
/** In production; unit files, chart and Compose file wait a little longer before they kill. */
const drainSeconds = 60;

/** The host of a URL as one listens on it: an IPv6 address without brackets. */
export const hostOf = (url: string): string => new URL(url).hostname.replaceAll(/^\[|\]$/g, '');

/** Variables that the server reads too; the rows are in its table (apps/server/src/settings.ts). */
export const udpPortAbout: About<number> = {
  default: 4443,
  means: 'UDP port of the media node that npm start runs.',
};
export const announcedHostAbout: About<null> = {
  defaultText: 'found as SFU_PUBLIC_IP says',
  means: 'All that clients are told of where the media node is: a name or an address, and no other.',
};
export const metricsToken = text('METRICS_TOKEN', {
  without: 'anybody who reaches it',
  isSecret: true,
  means: 'What a scraper of /metrics presents as Bearer, to media nodes too.',
});
export const udpPort = setting('SFU_UDP_PORT', wholeNumber(1024, 65_000), udpPortAbout);
export const announcedHost = setting('SFU_ANNOUNCED_HOST', host('text'), announcedHostAbout);

const internalUrl = setting('SFU_INTERNAL_URL', plainUrl, {
  defaultText: 'from host and port',
  means: 'where servers reach its control port.',
});
const ownHost = host('address', 'an address or name of this machine');
const internalHost = setting('SFU_INTERNAL_HOST', ownHost, {
  default(source) {
    const url = internalUrl.read(source);
    return url === null ? loopback : ownHost.parse(hostOf(url), 'SFU_INTERNAL_HOST', source);
  },
  defaultText: `host of SFU_INTERNAL_URL, else ${loopback}`,
  means: 'address of this machine that its control port listens on.',
});

/** Every variable that only a media node has a use for: how it is read, what holds without it, what it means. */
export const nodeSettings = {
  name: mapped(
    setting('SFU_NAME', matching(/^[A-Za-z0-9._-]{1,128}$/, '1-128 letters, digits, dots, dashes or underscores'), {
      default: () => defaultNodeName(),
      defaultText: 'host name',
      means: 'its name in the fleet, stable over restarts.',
    }),
    (name, { report }) => {
      if (reservedNames.includes(name)) report(`SFU_NAME must not be "${name}": the fleet's routes use it.`);
      return name;
    },
  ),
  region: setting('SFU_REGION', matching(/^[^\p{Cc}]{1,64}$/u, '1-64 characters'), {
    default: 'default',
    means: 'region that rooms may prefer.',
  }),
  capacity: setting('SFU_CAPACITY', wholeNumber(1, 100_000), { default: 1000, means: 'rooms it may hold.' }),
  processes: setting('SFU_PROCESSES', wholeNumber(1, 256), {
    // 0: one a core.
    default: ({ isProduction }) => (isProduction ? 0 : 1),
    defaultText: '1; in production one a core',
    means: 'processes that carry media.',
  }),
  roomSpreadPercent: setting('SFU_ROOM_SPREAD_PERCENT', orOff(wholeNumber(0, 100, 'off, or 0 to 100')), {
    // What is left of the core is for those who are in already, when more of them speak or share.
    default: 60,
    means:
      'how busy a media process may be, in percent of a core, before those who join its rooms go to another process of the node, and from there to another node of the region. off: a room stays in one process.',
  }),
  pipePort: setting('SFU_PIPE_PORT', orOff(wholeNumber(0, 65_000, 'off, port or 0')), {
    defaultText: 'off',
    means:
      'UDP port of its first process for pipes to other nodes, for example 4600; each further process has the next one. Set it once the other nodes reach these ports. 0: any that are free. off: rooms of this node stay on it.',
  }),
  pipeHost: setting('SFU_PIPE_HOST', host('host'), {
    default(source) {
      const url = internalUrl.read(source);
      return url === null ? internalHost.read(source) : hostOf(url);
    },
    defaultText: 'host of SFU_INTERNAL_URL, else SFU_INTERNAL_HOST',
    means: 'host that other nodes send to by pipes. It must be in SFU_ALLOWED_HOSTS.',
  }),
  announcedUdpPort: setting('SFU_ANNOUNCED_UDP_PORT', wholeNumber(1, 65_535, 'port'), {
    default: (source) => udpPort.read(source),
    defaultText: 'SFU_UDP_PORT',
    means: 'UDP port as clients see it, behind a NAT.',
  }),
  publicAddresses: setting<PublicAddresses, PublicAddresses>('SFU_PUBLIC_IP', publicAddresses, {
    default: (source) => (source.isProduction && announcedHost.read(source) === null ? 'auto' : []),
    defaultText: 'auto in production, none in development',
    means:
      'addresses that clients are told besides those of this machine. auto finds them: what the cluster of SFU_KUBERNETES_NODE says, what SFU_STUN_SERVER or the control plane sees, or the host of PUBLIC_URL where the server is on this machine.',
  }),
  kubernetesNode: setting('SFU_KUBERNETES_NODE', anyText(), {
    defaultText: 'none',
    means:
      'in a pod: name of its machine in the cluster, whose annotation parley/public-ip or external addresses clients are told. Its service account must be allowed to get nodes.',
  }),
  stunServer: setting('SFU_STUN_SERVER', stunServer, {
    defaultText: 'none',
    means: 'STUN server that is asked for the public address.',
  }),
  drainSeconds: setting('SFU_DRAIN_SECONDS', wholeNumber(0, 86_400), {
    default: ({ isProduction }) => (isProduction ? drainSeconds : 0),
    defaultText: `${drainSeconds}; 0 in development and beside a server`,
    means: 'how long it waits after SIGTERM for its calls to end before who is left is moved to other nodes.',
  }),
  bindAddress: setting('SFU_BIND_ADDRESS', host('address', 'an IP address of this machine'), {
    defaultText: 'all',
    means: 'address that media is received on.',
  }),
  turnPort: mapped(
    setting('SFU_TURN_PORT', orOff(wholeNumber(0, 65_535, 'port or off')), {
      default: 3478,
      means: 'its TURN relay, UDP and TCP.',
    }),
    (port) => port || null,
  ),
  turnTlsPort: setting('SFU_TURN_TLS_PORT', wholeNumber(1, 65_535, 'port'), {
    default: 5349,
    means: 'its TURN relay by TLS.',
  }),
  turnTlsCert: setting('SFU_TURN_TLS_CERT', anyText('file (PEM)'), {
    defaultText: 'no TLS',
    means: 'certificate of SFU_ANNOUNCED_HOST, for TURN by TLS.',
  }),
  turnTlsKey: setting('SFU_TURN_TLS_KEY', anyText('file (PEM)'), {
    defaultText: 'no TLS',
    means: 'key of SFU_TURN_TLS_CERT.',
  }),
  internalHost,
  internalPort: setting('SFU_INTERNAL_PORT', wholeNumber(0, 65_535, 'port'), {
    default: 4480,
    means: 'its control port.',
  }),
  internalUrl,
  controlUrl: setting('CONTROL_URL', plainUrl, {
    default: 'http://127.0.0.1:4000',
    means: 'where it finds a server; the node beside a server is told by it.',
  }),
  version: mapped(text('SFU_VERSION', { means: 'build identifier shown in the fleet.' }), (given) =>
    (given ?? '').slice(0, 64),
  ),
};

/** As the reference lists them beside those of the server. */
export const nodeSettingRows: readonly SettingRow[] = Object.values(nodeSettings)
  .flatMap(({ rows }) => rows)
  .map((row) => ({ ...row, means: `Media node: ${row.means}` }));
