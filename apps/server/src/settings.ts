import { resolve } from 'node:path';
import { mapped, record, type SettingRow, text, together } from '@parley/contract/settings';
import { announcedHostAbout, metricsToken, nodeSettingRows, udpPortAbout } from '@parley/sfu/settings';
import { listenAddress } from './core/addresses.ts';
import { loopbackNetworks, privateNetworks } from './core/networks.ts';
import { push } from './push-settings.ts';
import {
  flag,
  headers,
  hosts,
  list,
  oneOf,
  port,
  portOrNone,
  previousSecret,
  redisUrl,
  secrets,
  secureUrl,
  share,
  url,
} from './setting-kinds.ts';
import { isTlsOwn, plainHttpPort, tls, tlsPort } from './tls-settings.ts';

const withoutEndSlash = (address: string): string => address.replace(/\/+$/, '');

export const mode = oneOf('NODE_ENV', ['production', 'development', 'test'], {
  default: 'development',
  means: 'production switches development conveniences off and makes secrets mandatory.',
});
const httpPort = port('PORT', {
  default: (source) => (isTlsOwn(source) ? tlsPort : 4000),
  defaultText: `4000; ${tlsPort} in production when TLS is not off`,
  means: 'Port of HTTP and both sockets; with TLS of our own also of TURN.',
});

/**
 * Every variable besides the limits: how it is read, what holds without it, what it means. The configuration has the
 * shape of this table, and the reference lists its rows.
 */
export const settings = record({
  isProduction: mapped(mode, (given) => given === 'production'),
  port: httpPort,
  host: mapped(
    text('HOST', {
      default: '127.0.0.1',
      inProduction: '::',
      means: 'Address to listen on; `::` is every address, of IPv4 and IPv6.',
    }),
    (host) => listenAddress(host),
  ),
  publicUrl: mapped(
    url('PUBLIC_URL', ['http:', 'https:'], {
      default: (source) => `http://localhost:${httpPort.read(source)}`,
      defaultText: 'localhost:PORT over http',
      isRequiredInProduction: true,
      means: 'What links, signalingUrl and websocketUrl are built from.',
    }),
    withoutEndSlash,
  ),
  tls,
  plainPort: portOrNone('HTTP_PORT', {
    default: (source) => (tls.read(source).kind === 'acme' && httpPort.read(source) === tlsPort ? plainHttpPort : null),
    defaultText: `${plainHttpPort} when TLS is acme and PORT ${tlsPort}, else 0`,
    means:
      'Port of plain http beside TLS of our own: sends everybody to PUBLIC_URL, and proves the name to an authority that cannot do so on PORT.',
  }),
  allowsPublicDevelopment: flag('ALLOW_PUBLIC_DEVELOPMENT', {
    default: false,
    means: 'Lets development mode have a public PUBLIC_URL or HOST. Anyone who reaches it reads its mail and signs in.',
  }),
  dataDir: mapped(
    text('DATA_DIR', {
      default: '.parley',
      // Trying it out first must leave no account, data or secret in production.
      inProduction: '.parley-production',
      means: 'Embedded database, blobs, secrets.json and dev.env.',
    }),
    (given) => resolve(given),
  ),
  databaseUrl: url('DATABASE_URL', ['postgres:', 'postgresql:'], {
    without: 'embedded',
    isSecret: true,
    means: 'PostgreSQL 15 or newer.',
  }),
  databaseReadUrl: mapped(
    url('DATABASE_READ_URL', ['postgres:', 'postgresql:'], {
      without: 'DATABASE_URL',
      isSecret: true,
      means: 'A streaming replica of DATABASE_URL, for chat history, searches and the lists of the dashboard.',
    }),
    (given, { report, text }) => {
      if (given !== null && text('DATABASE_URL') === null) report('DATABASE_READ_URL needs DATABASE_URL.');
      return given;
    },
  ),
  redisUrl: redisUrl('REDIS_URL', {
    without: 'in memory',
    isSecret: true,
    means: 'Redis 7 or newer; needed for more than one process. Several URLs share the work.',
  }),
  serverRegion: text('SERVER_REGION', {
    without: 'none',
    means: 'Region of the media nodes (SFU_REGION) that are near to this server: for who joins by it without a region.',
  }),
  redisPrefix: text('REDIS_KEY_PREFIX', {
    default: 'parley:',
    means: 'What every key and channel in Redis starts with.',
  }),
  s3: together(
    {
      endpoint: url('S3_ENDPOINT', ['http:', 'https:'], {
        without: 'folder in DATA_DIR',
        means: 'S3-compatible storage for attachments.',
      }),
      bucket: text('S3_BUCKET', { means: 'Bucket for attachments.' }),
      accessKeyId: text('S3_ACCESS_KEY_ID', { means: 'Key id for the bucket.' }),
      secretAccessKey: text('S3_SECRET_ACCESS_KEY', { isSecret: true, means: 'Secret for the bucket.' }),
    },
    { region: text('S3_REGION', { default: 'us-east-1', means: 'Region of the bucket.' }) },
  ),
  smtpUrl: url('SMTP_URL', ['smtp:', 'smtps:'], {
    without: 'development mailbox; in production no mail',
    isSecret: true,
    means: 'Mail server.',
  }),
  smtpAllowsPlaintext: flag('SMTP_ALLOW_PLAINTEXT', {
    default: false,
    inProduction: false,
    means: 'Whether production may send mail unencrypted to a server without STARTTLS that is not on this machine.',
  }),
  mailFrom: text('MAIL_FROM', { default: 'Parley <no-reply@localhost>', means: 'Sender of our mail.' }),
  secretKey: mapped(
    secrets('SECRET_KEY', { means: 'Signing root; keys of each token family are derived from it.' }),
    (given) => given?.join(',') ?? null,
  ),
  secretKeyPrevious: mapped(
    previousSecret('SECRET_KEY_PREVIOUS', {
      means: 'The SECRET_KEY before this one: what it signed is good until it expires, what it sealed is sealed anew.',
    }),
    (given) => given?.join(',') ?? null,
  ),
  sfuSecrets: secrets('SFU_REGISTRATION_SECRET', {
    means: 'What media nodes present. "new,old" accepts both while rotating.',
  }),
  sfuUdpPort: port('SFU_UDP_PORT', udpPortAbout),
  sfuAnnouncedHost: text('SFU_ANNOUNCED_HOST', announcedHostAbout),
  runsMediaNode: flag('SFU_EMBEDDED', {
    // Of several servers each would reach only its own node.
    default: ({ isProduction, text }) =>
      !isProduction || text('REDIS_URL') === null || text('SFU_INTERNAL_URL') !== null,
    defaultText: 'true; in production with REDIS_URL only where SFU_INTERNAL_URL is set',
    means: 'Whether npm start and parley serve run a media node beside the server; false where nodes run elsewhere.',
  }),
  sfuAllowedHosts: mapped(
    hosts('SFU_ALLOWED_HOSTS', {
      default: [],
      defaultText: 'loopback and private networks',
      means: 'Where internalUrl of a media node may be: networks (10.0.0.0/8), addresses, names, *.example.com.',
    }),
    (given) => (given.length > 0 ? given : [...loopbackNetworks, ...privateNetworks]),
  ),
  metricsToken,
  metricsHost: mapped(
    text('METRICS_HOST', { default: '127.0.0.1', means: 'Address that METRICS_PORT listens on.' }),
    (host) => listenAddress(host),
  ),
  metricsPort: port<null>('METRICS_PORT', {
    without: 'PORT',
    means: 'A port of its own for /metrics, which is then nowhere else.',
  }),
  playgroundApiKey: mapped(
    text('PLAYGROUND_API_KEY', {
      without: 'the demo project in development, off in production',
      isSecret: true,
      means: 'Development key of the project that the playground at /playground works in.',
    }),
    (key, { report }) => {
      // The playground lends its key's rights to all visitors: never with real rooms.
      if (key !== null && !key.startsWith('svk_dev_')) report('PLAYGROUND_API_KEY must be a development key.');
      return key;
    },
  ),
  turn: record({
    urls: list('RTC_TURN_URLS', { means: 'TURN or STUN servers for clients.' }),
    secret: text('RTC_TURN_SECRET', {
      isSecret: true,
      means: 'Shared secret of the TURN servers (use-auth-secret).',
    }),
  }),
  operatorEmails: mapped(
    list('OPERATOR_EMAILS', { defaultText: 'the first account', means: 'Who may drain media nodes.' }),
    (emails) => emails.map((email) => email.toLowerCase()),
  ),
  trustProxy: list('TRUST_PROXY', {
    defaultText: 'off',
    means: 'Addresses of proxies whose X-Forwarded-For is believed.',
  }),
  requireVerifiedEmail: flag('AUTH_REQUIRE_VERIFIED_EMAIL', {
    default: false,
    inProduction: true,
    means: 'Whether signing in needs a verified address.',
  }),
  registration: record({
    policy: mapped(
      oneOf('REGISTRATION', ['open', 'invite', 'closed'], {
        default: 'open',
        means: 'Who may make an account: anybody, addresses with a project invitation (and the very first), or nobody.',
      }),
      (given) => (({ open: 'OPEN', invite: 'INVITE', closed: 'CLOSED' }) as const)[given],
    ),
    domains: mapped(
      list('REGISTRATION_DOMAINS', {
        defaultText: 'any',
        means: 'E-mail domains whose addresses may make an account.',
      }),
      (given, { report }) => {
        for (const domain of given)
          if (!/^[\p{L}\p{N}-]+(\.[\p{L}\p{N}-]+)*$/u.test(domain))
            report(`REGISTRATION_DOMAINS: ${domain} is not a domain.`);
        return given.map((domain) => domain.toLowerCase());
      },
    ),
  }),
  oauth: record({
    google: together(
      {
        clientId: text('OAUTH_GOOGLE_CLIENT_ID', { means: 'Sign-in with Google.' }),
        clientSecret: text('OAUTH_GOOGLE_CLIENT_SECRET', { isSecret: true, means: 'Sign-in with Google.' }),
      },
      {},
    ),
    github: together(
      {
        clientId: text('OAUTH_GITHUB_CLIENT_ID', { means: 'Sign-in with GitHub.' }),
        clientSecret: text('OAUTH_GITHUB_CLIENT_SECRET', { isSecret: true, means: 'Sign-in with GitHub.' }),
      },
      {
        url: mapped(
          secureUrl('OAUTH_GITHUB_URL', { default: 'https://github.com', means: 'GitHub Enterprise: its address.' }),
          withoutEndSlash,
        ),
        apiUrl: mapped(
          secureUrl('OAUTH_GITHUB_API_URL', {
            default: 'https://api.github.com',
            means: 'GitHub Enterprise: address of its API.',
          }),
          withoutEndSlash,
        ),
      },
    ),
    oidc: together(
      {
        // As it is: a slash at its end belongs to some issuers' names.
        issuer: secureUrl('OAUTH_OIDC_ISSUER', { means: 'Sign-in with any OpenID Connect provider.' }),
        clientId: text('OAUTH_OIDC_CLIENT_ID', { means: 'Sign-in with any OpenID Connect provider.' }),
        clientSecret: text('OAUTH_OIDC_CLIENT_SECRET', {
          isSecret: true,
          means: 'Sign-in with any OpenID Connect provider.',
        }),
      },
      {},
    ),
    redirectUris: list('OAUTH_REDIRECT_URIS', {
      defaultText: 'only PUBLIC_URL',
      means: 'Further redirect addresses.',
    }),
  }),
  usageEnforced: flag('USAGE_ENFORCE', {
    default: false,
    means: 'Whether minting stops when the free minutes are used up.',
  }),
  webhookAllowPrivate: flag('WEBHOOK_ALLOW_PRIVATE', {
    default: false,
    means: 'Whether webhooks may go to private addresses in production.',
  }),
  push,
  /** The names are OpenTelemetry's own, so that one set of variables serves all of a machine's services. */
  traces: together(
    {
      endpoint: url('OTEL_EXPORTER_OTLP_ENDPOINT', ['http:', 'https:'], {
        without: 'no traces',
        means:
          'OpenTelemetry collector (OTLP over HTTP, JSON) that gets traces of requests, transactions, joins and webhooks.',
      }),
    },
    {
      headers: headers('OTEL_EXPORTER_OTLP_HEADERS', {
        defaultText: 'unset',
        isSecret: true,
        means: 'Headers for the collector.',
      }),
      serviceName: text('OTEL_SERVICE_NAME', { default: 'parley', means: 'Name of this service in traces.' }),
      sampleRatio: share('OTEL_TRACES_SAMPLER_ARG', {
        default: 1,
        means: 'Share of the traces that begin here and are kept; a caller that sends traceparent decides for its own.',
      }),
    },
  ),
  logLevel: oneOf('LOG_LEVEL', ['debug', 'info', 'warn', 'error', 'silent'], {
    default: 'warn',
    inProduction: 'info',
    means: 'How much is logged.',
  }),
});

/** Every variable that has a meaning, but for the limits. */
export const settingRows: readonly SettingRow[] = [...settings.rows, ...nodeSettingRows];
