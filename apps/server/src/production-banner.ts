import { styleText } from 'node:util';

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
  /** UDP port of the media node beside the server; null when none is run. */
  mediaPort: number | null;
  /** Secrets that are in the data folder because no variable gives them. */
  hasKeptSecrets: boolean;
  isFolderOpenToOthers: boolean;
  isFromDevelopment: boolean;
}

interface Notice {
  about: string;
  text: string;
}

/** What an operator should know of this start, and nothing else: each row is a choice that has a price. */
export function notices(facts: StartFacts): Notice[] {
  const { dataDir, hasPostgres, hasRedis, hasS3, sendsMail, mediaPort } = facts;
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
      'mail',
      !sendsMail,
      'None is sent: beyond the first account nobody can register or reset a password. Set SMTP_URL and MAIL_FROM.',
    ],
    [
      'media',
      mediaPort === null,
      'No media node runs beside this server: calls need one. Run parley sfu, here or elsewhere.',
    ],
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

export const firstAccountText =
  'There is no account yet: whoever opens this link makes the first one. It works once, for 24 hours.';

/** What a terminal shows when production is ready. */
export function productionBanner(facts: StartFacts, firstAccountLink: string | null, isColoured: boolean): string {
  const strong = (text: string): string => (isColoured ? styleText('bold', text) : text);
  const row = (label: string, text: string): string => `  ${label.padEnd(14)}${text}`;
  return [
    '',
    `${strong(`parley ${facts.version}`)}  production  ready in ${(facts.readyInMs / 1000).toFixed(1)} s  ${facts.publicUrl}`,
    '',
    ...notices(facts).map(({ about, text }) => row(`${about[0]?.toUpperCase()}${about.slice(1)}`, text)),
    ...(facts.mediaPort === null ? [] : [row('Media', `1 node beside the server, from UDP ${facts.mediaPort}`)]),
    ...(firstAccountLink === null ? [] : ['', `  ${firstAccountText}`, `  ${strong(firstAccountLink)}`]),
    '',
  ].join('\n');
}
