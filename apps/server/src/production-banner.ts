import { styleText } from 'node:util';
import type { MediaState } from './media-node.ts';

/** What a production start stands on. */
export interface StartFacts {
  version: string;
  publicUrl: string;
  readyInMs: number;
  dataDir: string;
  hasPostgres: boolean;
  hasRedis: boolean;
  hasS3: boolean;
  sendsMail: boolean;
  /** Of the media node beside the server; null when none is run. */
  media: MediaState | null;
  /** Secrets that are in the data folder because no variable gives them. */
  hasKeptSecrets: boolean;
  /** Nobody who is known encrypts what PUBLIC_URL says is encrypted. */
  lacksTls: boolean;
  isFolderOpenToOthers: boolean;
  isFromDevelopment: boolean;
}

interface Notice {
  about: string;
  text: string;
}

/** What an operator should know of this start, and nothing else: each row is a choice that has a price. */
export function notices(facts: StartFacts): Notice[] {
  const { dataDir, hasPostgres, hasRedis, hasS3, sendsMail, media } = facts;
  const rows: [about: string, isSaid: boolean, text: string][] = [
    [
      'database',
      !hasPostgres,
      `Embedded in ${dataDir}: for one process, no replica, and a power cut may lose the last writes. Back it up, or set DATABASE_URL for PostgreSQL.`,
    ],
    ['redis', !hasRedis, 'In memory: for one process. Set REDIS_URL for more.'],
    ['files', !hasS3, `In ${dataDir}: back it up. More than one machine needs S3_ENDPOINT.`],
    [
      'secrets',
      facts.hasKeptSecrets,
      `Made by this machine and kept in ${dataDir}/secrets.json: without it, what they signed and sealed is lost. Back it up.`,
    ],
    [
      'tls',
      facts.lacksTls,
      'This server does not encrypt, and no proxy that does is named. Set TLS=acme (or TLS_CERT and TLS_KEY), or name the proxy in TRUST_PROXY.',
    ],
    [
      'mail',
      !sendsMail,
      'None is sent: beyond the first account nobody can register or reset a password. Set SMTP_URL and MAIL_FROM.',
    ],
    ['media', media !== null && media.status !== 'OK', mediaProblem(media)],
    [
      'folder',
      facts.isFolderOpenToOthers,
      `${dataDir} can be read by others on this machine: run chmod 700 ${dataDir}.`,
    ],
    [
      'development',
      facts.isFromDevelopment,
      `${dataDir} was used in development mode: its account dev@localhost is here too, with its password in dev.env. Use another DATA_DIR.`,
    ],
  ];
  return rows.filter(([, isSaid]) => isSaid).map(([about, , text]) => ({ about, text }));
}

function mediaProblem(media: MediaState | null): string {
  const reason = media?.status === 'DOWN' ? media.problem : 'it has not registered yet';
  return `The media node beside this server does not run, so there are no calls: ${reason}. See the log and parley doctor.`;
}

export const firstAccountText =
  'There is no account yet: the person who opens this link makes the first one. It works once, for 24 hours.';

/** What a terminal shows when production is ready. */
export function productionBanner(facts: StartFacts, firstAccountLink: string | null, isColoured: boolean): string {
  const strong = (text: string): string => (isColoured ? styleText('bold', text) : text);
  const row = (label: string, text: string): string => `  ${label.padEnd(14)}${text}`;
  return [
    '',
    `${strong(`parley ${facts.version}`)}  production  ready in ${(facts.readyInMs / 1000).toFixed(1)} s  ${facts.publicUrl}`,
    '',
    ...notices(facts).map(({ about, text }) => row(`${about[0]?.toUpperCase()}${about.slice(1)}`, text)),
    ...(facts.media?.status === 'OK'
      ? [row('Media', `1 node beside the server, UDP ${facts.media.udpPorts.join(', ')}`)]
      : []),
    ...(firstAccountLink === null ? [] : ['', `  ${firstAccountText}`, `  ${strong(firstAccountLink)}`]),
    '',
  ].join('\n');
}
